/** The numbers that the text of an IPv6 address stands for. */

/** Eight groups of 16 bits. The text is an IPv6 address; the interface behind `%` is left out. */
export function ipv6Groups(address: string): number[] {
  const scope = address.indexOf('%');
  const text = scope < 0 ? address : address.slice(0, scope);
  const [head = '', tail] = withoutQuad(text).split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(8 - front.length - back.length).fill('0');
  return [...front, ...zeros, ...back].map((group) => Number.parseInt(group, 16));
}

/** The last 32 bits may be written as an IPv4 address. */
function withoutQuad(text: string): string {
  if (!text.includes('.')) return text;
  const start = text.lastIndexOf(':') + 1;
  const [a = 0, b = 0, c = 0, d = 0] = text.slice(start).split('.').map(Number);
  return `${text.slice(0, start)}${(256 * a + b).toString(16)}:${(256 * c + d).toString(16)}`;
}
