/**
 * Resolves access logs: where lines go, what they look like, which requests get one. A log file is
 * opened once here, so that a path that cannot be written is a configuration error; nothing is
 * written to it.
 */
import type { AccessLog } from '../../../shared/api/generated/envoy/config/accesslog/v3/accesslog.ts';
import type { FileAccessLog } from '../../../shared/api/generated/envoy/extensions/access_loggers/file/v3/file.ts';
import type { StdoutAccessLog } from '../../../shared/api/generated/envoy/extensions/access_loggers/stream/v3/stream.ts';
import type {
  AccessLogConfig,
  AccessLogFormat,
  LineLogConfig,
} from '../../../shared/resources/access-log.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { checkWritable } from '../writable-file.ts';
import { resolveFilter } from './filter.ts';
import { resolveHttpLogService, resolveTcpLogService } from './log-service.ts';
import { checkFormat, defaultFormat, jsonFormat, resolveFormat, textFormat } from './format.ts';

type Sink = LineLogConfig;

const FILE_FIELDS = knownFields<FileAccessLog>([
  'path',
  'format',
  'json_format',
  'typed_json_format',
  'log_format',
]);
const STREAM_FIELDS = knownFields<StdoutAccessLog>(['log_format']);

export const LOGGERS = new ExtensionRegistry<AccessLogConfig>(
  'envoy.access_loggers',
  'access logger',
  [
    extension(
      'envoy.access_loggers.file',
      'envoy.extensions.access_loggers.file.v3.FileAccessLog',
      resolveFile,
    ),
    extension(
      'envoy.access_loggers.stdout',
      'envoy.extensions.access_loggers.stream.v3.StdoutAccessLog',
      (message: StdoutAccessLog, scope) => resolveStream('stdout', message, scope),
    ),
    extension(
      'envoy.access_loggers.stderr',
      'envoy.extensions.access_loggers.stream.v3.StderrAccessLog',
      (message: StdoutAccessLog, scope) => resolveStream('stderr', message, scope),
    ),
    extension(
      'envoy.access_loggers.http_grpc',
      'envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig',
      resolveHttpLogService,
    ),
    extension(
      'envoy.access_loggers.tcp_grpc',
      'envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig',
      resolveTcpLogService,
    ),
  ],
);

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

function resolveFile(message: FileAccessLog, scope: Scope): Sink {
  refuseOtherFields(message, FILE_FIELDS, scope);
  const path = message.path ?? '';
  checkWritable(path, scope.at('path'));
  return { sink: { kind: 'file', path }, format: fileFormat(message, scope) };
}

function fileFormat(message: FileAccessLog, scope: Scope): AccessLogFormat {
  if (message.format !== undefined) {
    return textFormat(checkFormat(message.format, scope.at('format')), false);
  }
  for (const name of ['json_format', 'typed_json_format'] as const) {
    const fields = message[name];
    if (fields === undefined) continue;
    const formats = jsonFormat(fields, scope.at(name));
    return { kind: 'json', fields: formats, omitEmptyValues: false, sortProperties: false };
  }
  if (message.log_format === undefined) return defaultFormat();
  return resolveFormat(message.log_format, scope.at('log_format'));
}

function resolveStream(kind: 'stdout' | 'stderr', message: StdoutAccessLog, scope: Scope): Sink {
  refuseOtherFields(message, STREAM_FIELDS, scope);
  return { sink: { kind }, format: resolveFormat(message.log_format, scope.at('log_format')) };
}

/** A log file by its path alone, as the admin's `access_log_path` has it. */
export function fileLogWithDefaultFormat(path: string, scope: Scope): LineLogConfig {
  checkWritable(path, scope);
  return { sink: { kind: 'file', path }, format: defaultFormat() };
}
