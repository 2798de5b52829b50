/** Resolves access logs: which logger each goes to, and which requests get an entry. */
import type { AccessLog } from '../../../shared/api/generated/envoy/config/accesslog/v3/accesslog.ts';
import type { AccessLogConfig } from '../../../shared/resources/access-loggers/access-loggers.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveFilter } from './filter.ts';
import { LOGGERS } from './loggers.ts';

export function resolveAccessLogs(
  messages: readonly AccessLog[] | undefined,
  scope: Scope,
): readonly AccessLogConfig[] {
  const logs = (messages ?? []).map((message, index) => resolveOne(message, scope.at(index)));
  return logs.filter((log) => log !== undefined);
}

function resolveOne(message: AccessLog, scope: Scope): AccessLogConfig | undefined {
  const sink = LOGGERS.resolve(message, scope);
  const filter =
    message.filter === undefined ? undefined : resolveFilter(message.filter, scope.at('filter'));
  return sink === undefined ? undefined : { ...sink, ...optional('filter', filter) };
}
