/** Resolves how a route changes the path and the host of a request on its way to the upstream. */
import type { RouteAction } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { HostRewrite, PathRewrite } from '../../../shared/resources/routes/route.ts';
import { checkFormat } from '../access-logs/format.ts';
import { resolveRewrite } from '../matchers/regex.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { PATH_REWRITE } from './path-templates.ts';

export function resolvePathRewrite(action: RouteAction, scope: Scope): PathRewrite | undefined {
  const { prefix_rewrite: prefix = '', regex_rewrite: regex, path_rewrite_policy: policy } = action;
  const { path_rewrite: format = '' } = action;
  const isGiven = [prefix !== '', regex !== undefined, policy !== undefined, format !== ''];
  if (isGiven.filter(Boolean).length > 1) {
    scope.error(
      'conflict',
      'Specify only one of prefix_rewrite, regex_rewrite or path_rewrite_policy',
    );
  }
  if (regex !== undefined) {
    const rewrite = resolveRewrite(regex, scope.at('regex_rewrite'));
    return rewrite === undefined ? undefined : { kind: 'regex', ...rewrite };
  }
  if (policy !== undefined) {
    const template = PATH_REWRITE.resolve(policy, scope.at('path_rewrite_policy'));
    return template === undefined ? undefined : { kind: 'template', template };
  }
  if (format !== '') {
    const failure = 'Failed to create path rewrite formatter: INVALID_ARGUMENT: ';
    return { kind: 'format', format: checkFormat(format, scope.at('path_rewrite'), { failure }) };
  }
  return prefix === '' ? undefined : { kind: 'prefix', value: toByteString(prefix) };
}

export function resolveHostRewrite(action: RouteAction, scope: Scope): HostRewrite | undefined {
  if (action.host_rewrite_literal !== undefined) {
    return { kind: 'literal', value: toByteString(action.host_rewrite_literal) };
  }
  if (action.auto_host_rewrite === true) return { kind: 'auto' };
  if (action.host_rewrite_header !== undefined) {
    return { kind: 'header', name: asciiLower(action.host_rewrite_header) };
  }
  if (action.host_rewrite !== undefined && action.host_rewrite !== '') {
    const failure = 'Failed to create host rewrite formatter: INVALID_ARGUMENT: ';
    const format = checkFormat(action.host_rewrite, scope.at('host_rewrite'), { failure });
    return { kind: 'format', format };
  }
  if (action.host_rewrite_path_regex === undefined) return undefined;
  const place = scope.at('host_rewrite_path_regex');
  const rewrite = resolveRewrite(action.host_rewrite_path_regex, place);
  return rewrite === undefined ? undefined : { kind: 'path_regex', ...rewrite };
}
