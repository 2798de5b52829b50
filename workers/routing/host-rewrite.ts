/** Compiles host rewrites of routes, and does the one that waits for the chosen upstream host. */
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
import type { ClusterRouteAction, HostRewrite } from '../../shared/resources/routes/route.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat } from '../substitution/compile-format.ts';

/**
 * The new authority for a request, undefined when it keeps its own. `path` is not yet rewritten.
 */
export type HostRewriter = (headers: HeaderMap, info: StreamInfo) => string | undefined;

/** `auto` has no rewriter: its host is known only when an upstream host is chosen. */
export function compileHostRewrite(rewrite: HostRewrite | undefined): HostRewriter | undefined {
  switch (rewrite?.kind) {
    case undefined:
    case 'auto':
      return undefined;
    case 'literal': {
      const { value } = rewrite;
      return () => value;
    }
    case 'header':
      return (headers) => headers.get(rewrite.name) || undefined;
    case 'format': {
      const format = compileTextFormat(rewrite.format, { omitEmptyValues: false });
      return (_, info) => format(info);
    }
    case 'path_regex': {
      const runner = makeRegexRunner(rewrite.regex);
      return ({ path }) => {
        const mark = path.indexOf('?');
        const bare = mark < 0 ? path : path.slice(0, mark);
        return runner.replaceAll(bare, rewrite.substitution) || undefined;
      };
    }
  }
}

export interface AuthorityOptions {
  readonly appendXForwardedHost: boolean;
  /** False where `suppress_envoy_headers` is set. */
  readonly insertEnvoyHeaders: boolean;
}

/** Gives a request a new authority and leaves the old one in the headers that tell of it. */
export function replaceAuthority(
  headers: HeaderMap,
  authority: string,
  { appendXForwardedHost, insertEnvoyHeaders }: AuthorityOptions,
): void {
  const old = headers.authority;
  if (insertEnvoyHeaders && old !== '') headers.set('x-envoy-original-host', old);
  if (appendXForwardedHost && old !== '') headers.append('x-forwarded-host', old);
  headers.authority = authority;
}

/** `auto_host_rewrite`: the authority becomes the chosen host's name, where it has one. */
export function rewriteToHost(
  headers: HeaderMap,
  hostname: string,
  { hostRewrite, appendXForwardedHost }: ClusterRouteAction,
  insertEnvoyHeaders: boolean,
): void {
  if (hostRewrite?.kind !== 'auto' || hostname === '') return;
  replaceAuthority(headers, toByteString(hostname), { appendXForwardedHost, insertEnvoyHeaders });
}
