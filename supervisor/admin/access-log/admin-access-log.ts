/** `admin.access_log` and `admin.access_log_path`: one line per request to the admin interface. */
import type { LineLogConfig } from '../../../shared/resources/access-loggers/lines.ts';
import type { RuntimeSnapshot } from '../../../shared/resources/runtime.ts';
import { AdminLogFile } from './admin-log-file.ts';
import type { AdminLogFileOptions } from './admin-log-file.ts';
import { compileAdminLogFilter } from './admin-log-filter.ts';
import { compileAdminLogFormat } from './admin-log-format.ts';
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

export interface AdminAccessLogOptions extends Omit<AdminLogFileOptions, 'path'> {
  /** The values in force. */
  readonly runtime: () => RuntimeSnapshot;
}

/** Throws the error of opening a file. */
export function openAdminAccessLog(
  configs: readonly LineLogConfig[],
  options: AdminAccessLogOptions,
): AdminAccessLog {
  const { runtime, ...files } = options;
  const sinks = configs.map((config): Sink => {
    const { filter, format } = config;
    return {
      accepts: filter === undefined ? () => true : compileAdminLogFilter(filter, runtime),
      render: compileAdminLogFormat(format),
      file: new AdminLogFile({ ...files, path: pathOf(config) }),
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

function pathOf({ sink }: LineLogConfig): string {
  return sink.kind === 'file' ? sink.path : `/dev/${sink.kind}`;
}
