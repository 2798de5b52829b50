/**
 * The access loggers that write lines. A log file is opened once here, so that a path that cannot
 * be written is a configuration error; nothing is written to it.
 */
import type { FileAccessLog } from '../../../../shared/api/generated/envoy/extensions/access_loggers/file/v3/file.ts';
import type { StdoutAccessLog } from '../../../../shared/api/generated/envoy/extensions/access_loggers/stream/v3/stream.ts';
import type { AccessLogFormat } from '../../../../shared/resources/access-log.ts';
import type { LineLogConfig } from '../../../../shared/resources/access-loggers/lines.ts';
import { extension } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { checkWritable } from '../../writable-file.ts';
import { checkFormat, defaultFormat, jsonFormat, resolveFormat, textFormat } from '../format.ts';

const FILE_FIELDS = knownFields<FileAccessLog>([
  'path',
  'format',
  'json_format',
  'typed_json_format',
  'log_format',
]);
const STREAM_FIELDS = knownFields<StdoutAccessLog>(['log_format']);

export const FILE_LOGGER = extension(
  'envoy.access_loggers.file',
  'envoy.extensions.access_loggers.file.v3.FileAccessLog',
  resolveFile,
);

export const STDOUT_LOGGER = extension(
  'envoy.access_loggers.stdout',
  'envoy.extensions.access_loggers.stream.v3.StdoutAccessLog',
  (message: StdoutAccessLog, scope) => resolveStream('stdout', message, scope),
);

export const STDERR_LOGGER = extension(
  'envoy.access_loggers.stderr',
  'envoy.extensions.access_loggers.stream.v3.StderrAccessLog',
  (message: StdoutAccessLog, scope) => resolveStream('stderr', message, scope),
);

function resolveFile(message: FileAccessLog, scope: Scope): LineLogConfig {
  refuseOtherFields(message, FILE_FIELDS, scope);
  const path = message.path ?? '';
  checkWritable(path, scope.at('path'));
  return { kind: 'lines', sink: { kind: 'file', path }, format: fileFormat(message, scope) };
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

function resolveStream(
  kind: 'stdout' | 'stderr',
  message: StdoutAccessLog,
  scope: Scope,
): LineLogConfig {
  refuseOtherFields(message, STREAM_FIELDS, scope);
  return {
    kind: 'lines',
    sink: { kind },
    format: resolveFormat(message.log_format, scope.at('log_format')),
  };
}

/** A log file by its path alone, as the admin's `access_log_path` has it. */
export function fileLogWithDefaultFormat(path: string, scope: Scope): LineLogConfig {
  checkWritable(path, scope);
  return { kind: 'lines', sink: { kind: 'file', path }, format: defaultFormat() };
}
