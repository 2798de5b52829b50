/**
 * Rewrites the path of a request before routing: escaped slashes, RFC 3986 dot segments, merged
 * slashes. Owns the decision what a path becomes; it answers nobody and touches no headers.
 *
 * The order is Envoy's: a fragment is refused, escaped slashes are treated, then the path is
 * made canonical, then slashes are merged. The query is never touched.
 */

export interface PathOptions {
  readonly normalizePath: boolean;
  readonly mergeSlashes: boolean;
  readonly escapedSlashes:
    | 'KEEP_UNCHANGED'
    | 'REJECT_REQUEST'
    | 'UNESCAPE_AND_REDIRECT'
    | 'UNESCAPE_AND_FORWARD';
}

export interface PathPolicy {
  /** Undefined: the request is refused with 400 and an empty body. */
  apply(path: string): string | undefined;
  /** Whether a request that came with this path is answered with a 307 to the applied path. */
  redirects(path: string): boolean;
}

const ESCAPED_SLASH = /%(?:2f|5c)/i;
/** Whatever normalisation could change in a path; without any of it a path stays as it is. */
const NEEDS_NORMALIZING = /[%\\"<>^`{|}]|\/\./;

export function compilePathPolicy(options: PathOptions): PathPolicy {
  const unescapes = options.escapedSlashes !== 'KEEP_UNCHANGED';
  const redirect = options.escapedSlashes === 'UNESCAPE_AND_REDIRECT';
  return {
    apply(path) {
      if (path.includes('#')) return undefined;
      let bare = pathOf(path);
      const query = path.slice(bare.length);
      if (unescapes && bare.includes('%') && ESCAPED_SLASH.test(bare)) {
        if (options.escapedSlashes === 'REJECT_REQUEST') return undefined;
        bare = bare.replace(/%2f/gi, '/').replace(/%5c/gi, '\\');
      }
      if (options.normalizePath && NEEDS_NORMALIZING.test(bare)) {
        const canonical = canonicalPath(bare);
        if (canonical === undefined) return undefined;
        bare = canonical;
      }
      if (options.mergeSlashes && bare.includes('//')) bare = mergeSlashes(bare);
      return query === '' ? bare : bare + query;
    },
    redirects: (path) => redirect && ESCAPED_SLASH.test(pathOf(path)),
  };
}

/** A path of nothing but slashes becomes two of them, as in Envoy. */
function mergeSlashes(path: string): string {
  const merged = path.replace(/\/{2,}/g, '/');
  return merged === '/' ? '//' : merged;
}

/** A path without its query. */
function pathOf(path: string): string {
  const end = path.indexOf('?');
  return end < 0 ? path : path.slice(0, end);
}

/**
 * The canonical form of a path without query: parameters of dot segments dropped, unreserved
 * characters decoded, characters that no URL may hold encoded, backslashes turned into slashes, dot
 * segments resolved. Undefined when it holds `%00` or does not begin with a slash.
 */
export function canonicalPath(path: string): string | undefined {
  const decoded = path
    .replace(/(^|\/)(\.\.?);[^/]*/g, '$1$2')
    .replace(/%[0-9a-f]{2}/gi, decodeUnreserved)
    .replace(/["<>^`{|}]/g, encode)
    .replaceAll('\\', '/');
  if (!decoded.startsWith('/') || decoded.includes('%00')) return undefined;
  return decoded.includes('/.') ? removeDotSegments(decoded) : decoded;
}

function removeDotSegments(path: string): string {
  const segments = path.split('/');
  const kept: string[] = [];
  segments.forEach((segment, position) => {
    const last = position === segments.length - 1;
    if (segment === '.' || segment === '..') {
      if (segment === '..' && kept.length > 1) kept.pop();
      if (last) kept.push('');
    } else {
      kept.push(segment);
    }
  });
  return kept.join('/');
}

function decodeUnreserved(escape: string): string {
  const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return /[A-Za-z0-9\-._~]/.test(char) ? char : escape;
}

function encode(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}
