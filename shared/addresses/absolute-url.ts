/** Absolute URLs, as redirects name them. */

/** Of visible characters, without its fragment. */
const ABSOLUTE = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#\s]+)([^#\s]*)(?:#\S*)?$/;

export interface Target {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
}

/** Undefined for any other text. */
export function parseTarget(location: string): Target | undefined {
  const parts = ABSOLUTE.exec(location);
  if (parts === null) return undefined;
  const [, scheme = '', authority = '', rest = ''] = parts;
  const path = rest === '' ? '/' : rest.startsWith('?') ? `/${rest}` : rest;
  return { scheme: scheme.toLowerCase(), authority, path };
}
