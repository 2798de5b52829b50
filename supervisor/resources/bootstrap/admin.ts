/** Resolves the `admin` section: where the admin interface listens and what it logs. */
import type { Admin } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { LineLogConfig } from '../../../shared/resources/access-loggers/lines.ts';
import { namePredicate } from '../../stats/name-matcher.ts';
import type { AccessLogFilter } from '../../../shared/resources/access-log.ts';
import { resolveAccessLogs } from '../access-logs/access-log.ts';
import { fileLogWithDefaultFormat } from '../access-logs/loggers/lines.ts';
import { resolveAddress } from '../addresses.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveStringMatcher } from '../matchers/string-matcher.ts';
import type { ResolvedAdmin } from '../../resolved/resolved-bootstrap.ts';
import { resolveSocketOptions } from '../socket-options.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<Admin>(
  ['access_log', 'access_log_path', 'address', 'allow_paths', 'profile_path', 'socket_options'],
  // The admin's connections are under no limit.
  ['ignore_global_conn_limit'],
);

const PROFILE_PATH = '/var/log/envoy/envoy.prof';

/** Undefined without an address: then there is no admin interface. */
export function resolveAdmin(message: Admin | undefined, scope: Scope): ResolvedAdmin | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, FIELDS, scope);
  const accessLogs = resolveLogs(message, scope);
  if (message.address === undefined) return undefined;
  const resolved = resolveAddress(message.address, scope.at('address'));
  if (resolved === undefined) return undefined;
  return {
    address: resolved.address,
    mode: resolved.mode,
    socketOptions: resolveSocketOptions(
      message.socket_options ?? [],
      resolved.address,
      scope.at('socket_options'),
    ),
    ...optional('allowPath', resolveAllowedPaths(message, scope)),
    accessLogs,
    profilePath: message.profile_path ?? PROFILE_PATH,
  };
}

function resolveLogs(message: Admin, scope: Scope): readonly LineLogConfig[] {
  const place = scope.at('access_log');
  const logs = resolveAccessLogs(message.access_log, place).flatMap((log, index) => {
    if (log.filter !== undefined && readsExpression(log.filter)) {
      place.at(index, 'filter').unsupported('an expression is', 'it is for logs of listeners');
    }
    if (log.kind === 'lines') return [log];
    place.at(index).unsupported('a log service for the admin interface is');
    return [];
  });
  const { access_log_path: path } = message;
  if (path === undefined) return logs;
  return [...logs, fileLogWithDefaultFormat(path, scope.at('access_log_path'))];
}

function resolveAllowedPaths(
  { allow_paths: messages = [] }: Admin,
  scope: Scope,
): ResolvedAdmin['allowPath'] {
  if (messages.length === 0) return undefined;
  const predicates = messages.map((message, index) => {
    const matcher = resolveStringMatcher(message, scope.at('allow_paths', index));
    return matcher === undefined ? () => false : namePredicate(matcher);
  });
  return (path) => predicates.some((matches) => matches(path));
}

function readsExpression(filter: AccessLogFilter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.filters.some(readsExpression);
  return filter.kind === 'cel';
}
