/** Works out where a redirect points to. */
import type { PathMatch, RedirectAction } from '../../shared/resources/routes/route.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat } from '../substitution/compile-format.ts';
import { compilePathRewrite } from './path-rewrite.ts';
import type { PathRewriter } from './path-rewrite.ts';

export type LocationOf = (headers: HeaderMap, info: StreamInfo) => string;

export function compileRedirectLocation(action: RedirectAction, match: PathMatch): LocationOf {
  const pathOf = compileRedirectPath(action, match);
  const fixedScheme = action.httpsRedirect ? 'https' : (action.schemeRedirect ?? '');
  const fixedHost = action.hostRedirect ?? '';
  const port = action.portRedirect === undefined ? '' : `:${action.portRedirect}`;
  return (headers, info) => {
    const scheme = fixedScheme || headers.scheme;
    const host = fixedHost || hostWithoutStalePort(headers, scheme, port !== '');
    return `${scheme}://${host}${port}${pathOf(headers.path, info) ?? headers.path}`;
  };
}

/** The request's own address, as `location` of a 201 and of a direct response that redirects. */
export function ownLocation(headers: HeaderMap): string {
  return `${headers.scheme}://${headers.authority}${headers.path}`;
}

/** The same address with TLS. */
export function tlsLocation(headers: HeaderMap): string {
  return `https://${headers.authority}${headers.path}`;
}

function compileRedirectPath(action: RedirectAction, match: PathMatch): PathRewriter {
  const { path, stripQuery } = action;
  if (path === undefined) return stripQuery ? withoutQuery : (requestPath) => requestPath;
  if (path.kind === 'path') return (requestPath) => fullPath(path.value, requestPath, stripQuery);
  if (path.kind === 'format') {
    const format = compileTextFormat(path.format, { omitEmptyValues: true });
    return (requestPath, info) => {
      const value = format(info);
      if (value !== '') return fullPath(value, requestPath, stripQuery);
      return stripQuery ? withoutQuery(requestPath) : requestPath;
    };
  }
  const rewrite = compilePathRewrite(path, match);
  if (!stripQuery) return rewrite;
  return (requestPath, info) => withoutQuery(rewrite(requestPath, info) ?? requestPath);
}

/** A query of the redirect's own replaces the request's, whatever `strip_query` says. */
function fullPath(own: string, requestPath: string, stripQuery: boolean): string {
  const value = own.startsWith('/') ? own : `/${own}`;
  if (stripQuery || value.includes('?')) return value;
  return value + requestPath.slice(withoutQuery(requestPath).length);
}

function withoutQuery(path: string): string {
  const mark = path.indexOf('?');
  return mark < 0 ? path : path.slice(0, mark);
}

const DEFAULT_PORTS = new Map(Object.entries({ http: ':80', https: ':443' }));

/**
 * The request's authority without a port that would be wrong in the redirect: any port when the
 * redirect has its own, the old scheme's default port when the scheme changes.
 */
function hostWithoutStalePort(headers: HeaderMap, scheme: string, hasPort: boolean): string {
  const { authority } = headers;
  const colon = authority.startsWith('[')
    ? authority.lastIndexOf(']:') + 1
    : authority.lastIndexOf(':');
  if (colon < 1) return authority;
  const forwardedProto = headers.get('x-forwarded-proto') ?? '';
  const stale =
    scheme !== forwardedProto && authority.slice(colon) === DEFAULT_PORTS.get(forwardedProto);
  return hasPort || stale ? authority.slice(0, colon) : authority;
}
