/** Values of request headers that are passed on only in a form that every receiver reads alike. */

const RELATIVE_REFERER = /^(?![a-z][a-z\d+.-]*:)\S*$/i;
const ABSOLUTE_REFERER =
  /^[a-z][a-z\d+.-]*:\/\/(?:[^\s/?#@]*@)?(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=-]+)(?::(\d{0,5}))?(?:[/?#]\S*)?$/i;
const LARGEST_PORT = 65_535;

/** Whether a `referer` is a URL; anything else is not passed on. */
export function isValidReferer(value: string): boolean {
  if (RELATIVE_REFERER.test(value)) return true;
  const match = ABSOLUTE_REFERER.exec(value);
  return match !== null && Number(match[1] ?? 0) <= LARGEST_PORT;
}

/**
 * `te` reduced to the one value that means something to an upstream, undefined when it is not
 * there.
 */
export function sanitizedTe(value: string): string | undefined {
  return value.split(',').some((token) => token.trim() === 'trailers') ? 'trailers' : undefined;
}
