/**
 * The request target as the admin's router sees it: path normalised, query as it was sent. Clients
 * send double slashes and raw `^ | \ ( )` in queries; both are accepted.
 */

export interface RequestTarget {
  /** Dot segments resolved, slashes merged, unreserved characters decoded. */
  readonly path: string;
  /** Behind the first `?`, without a fragment. */
  readonly query: string;
}

/** Undefined when the target is no path: absolute URLs and `*` are answered with an empty 404. */
export function parseRequestTarget(target: string): RequestTarget | undefined {
  if (!target.startsWith('/')) return undefined;
  const fragment = target.indexOf('#');
  const whole = fragment === -1 ? target : target.slice(0, fragment);
  const mark = whole.indexOf('?');
  const rawPath = mark === -1 ? whole : whole.slice(0, mark);
  return { path: normalisePath(rawPath), query: mark === -1 ? '' : whole.slice(mark + 1) };
}

function normalisePath(rawPath: string): string {
  // Envoy keeps the first and the last slash even where nothing is between them.
  if (/^\/{2,}$/.test(rawPath)) return '//';
  const decoded = rawPath.replace(/%([0-9A-Fa-f]{2})/g, (escaped: string, digits: string) => {
    const character = String.fromCharCode(parseInt(digits, 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : escaped;
  });
  const segments: string[] = [];
  const parts = decoded.split('/').slice(1);
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    if (part === '..') segments.pop();
    if (part === '.' || part === '..') {
      if (isLast) segments.push('');
    } else if (part !== '' || isLast) {
      segments.push(part);
    }
  }
  return `/${segments.join('/')}`;
}
