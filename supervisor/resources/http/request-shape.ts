/** How a request's path, host and scheme are tidied before routing. */
import type { HttpConnectionManager as ManagerMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { HttpConnectionManager } from '../../../shared/resources/listener.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

type Shape = Pick<
  HttpConnectionManager,
  | 'normalizePath'
  | 'mergeSlashes'
  | 'escapedSlashes'
  | 'stripHostPort'
  | 'stripTrailingHostDot'
  | 'schemeOverwrite'
  | 'schemeMatchesUpstream'
>;

export function resolveRequestShape(message: ManagerMessage, scope: Scope): Shape {
  return {
    normalizePath: message.normalize_path ?? false,
    mergeSlashes: message.merge_slashes ?? false,
    escapedSlashes: escapedSlashes(message),
    stripHostPort: stripHostPort(message, scope),
    stripTrailingHostDot: message.strip_trailing_host_dot ?? false,
    ...optional('schemeOverwrite', schemeOverwrite(message)),
    ...(message.scheme_header_transformation?.match_upstream === true
      ? { schemeMatchesUpstream: true }
      : {}),
  };
}

function escapedSlashes({
  path_with_escaped_slashes_action: action,
}: ManagerMessage): Shape['escapedSlashes'] {
  switch (action) {
    case 'REJECT_REQUEST':
    case 'UNESCAPE_AND_REDIRECT':
    case 'UNESCAPE_AND_FORWARD':
      return action;
    default:
      return 'KEEP_UNCHANGED';
  }
}

function stripHostPort(message: ManagerMessage, scope: Scope): Shape['stripHostPort'] {
  const matching = message.strip_matching_host_port ?? false;
  const any = message.strip_any_host_port ?? false;
  if (matching && any) {
    scope.error(
      'conflict',
      'Error: Only one of `strip_matching_host_port` or `strip_any_host_port` can be set.',
    );
  }
  if (any) return 'any';
  return matching ? 'matching' : 'none';
}

function schemeOverwrite(message: ManagerMessage): Shape['schemeOverwrite'] {
  const scheme = message.scheme_header_transformation?.scheme_to_overwrite;
  return scheme === 'http' || scheme === 'https' ? scheme : undefined;
}
