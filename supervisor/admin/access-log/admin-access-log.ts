/** `admin.access_log` and `admin.access_log_path`: one line per request to the admin interface. */
import { assertNever } from '../../../shared/assert-never.ts';
import type {
  AccessLogConfig,
  AccessLogFilter,
  ComparisonOp,
} from '../../../shared/resources/access-log.ts';
import { AdminLogFile } from './admin-log-file.ts';
import type { AdminLogFileOptions } from './admin-log-file.ts';
import { AdminLogFormatError, compileAdminLogFormat } from './admin-log-format.ts';
import type { AdminLogEntry } from './admin-log-format.ts';

export interface AdminAccessLog {
  write(entry: AdminLogEntry): void;
  /** SIGUSR1 and `/reopen_logs`. */
  reopen(): void;
  close(): void;
}

interface Sink {
  readonly accepts: (entry: AdminLogEntry) => boolean;
  readonly render: (entry: AdminLogEntry) => string;
  readonly file: AdminLogFile;
}

/** Throws AdminLogFormatError, or the error of opening a file. */
export function openAdminAccessLog(
  configs: readonly AccessLogConfig[],
  options: Omit<AdminLogFileOptions, 'path'>,
): AdminAccessLog {
  const sinks = configs.map((config): Sink => {
    return {
      accepts: config.filter === undefined ? () => true : compileFilter(config.filter),
      render: compileAdminLogFormat(config.format),
      file: new AdminLogFile({ ...options, path: pathOf(config) }),
    };
  });
  return {
    write(entry) {
      for (const sink of sinks) {
        if (sink.accepts(entry)) sink.file.write(sink.render(entry));
      }
    },
    reopen() {
      for (const { file } of sinks) file.reopen();
    },
    close() {
      for (const { file } of sinks) file.close();
    },
  };
}

function pathOf({ sink }: AccessLogConfig): string {
  return sink.kind === 'file' ? sink.path : `/dev/${sink.kind}`;
}

function compileFilter(filter: AccessLogFilter): (entry: AdminLogEntry) => boolean {
  switch (filter.kind) {
    case 'status_code':
      return ({ status }) => compares(filter.op, status, filter.value);
    case 'duration':
      return ({ durationMs }) => compares(filter.op, durationMs, filter.value);
    case 'not_health_check':
      return () => true;
    case 'response_flag':
      return ({ flags }) =>
        filter.flags.length === 0 ? flags !== '-' : filter.flags.includes(flags);
    case 'and':
    case 'or': {
      const parts = filter.filters.map(compileFilter);
      return filter.kind === 'and'
        ? (entry) => parts.every((part) => part(entry))
        : (entry) => parts.some((part) => part(entry));
    }
    case 'traceable':
    case 'runtime':
    case 'header':
    case 'grpc_status':
    case 'log_type':
      throw new AdminLogFormatError(
        `cannot filter the admin's access log by ${filter.kind}: only status_code, duration, ` +
          'response_flag and their combinations are there',
      );
    default:
      return assertNever(filter);
  }
}

function compares(op: ComparisonOp, left: number, right: number): boolean {
  switch (op) {
    case 'EQ':
      return left === right;
    case 'NE':
      return left !== right;
    case 'GE':
      return left >= right;
    case 'LE':
      return left <= right;
    default:
      return assertNever(op);
  }
}
