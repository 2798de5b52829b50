/** Loggers whose entries go to a service over gRPC. */
import type { LogServiceConfig } from '../../../../shared/resources/access-loggers/grpc.ts';
import type { Logger, LoggerEnv, Loggers } from '../../logger.ts';
import { compileTags } from '../../../telemetry/custom-tags.ts';
import { EntryBuffer } from './entry-buffer.ts';
import { encodeEntry } from './log-entry.ts';

export class GrpcLoggers implements Loggers<LogServiceConfig> {
  readonly #env: LoggerEnv;
  readonly #buffers = new Set<EntryBuffer>();

  constructor(env: LoggerEnv) {
    this.#env = env;
  }

  open(config: LogServiceConfig): Logger {
    const { clock, notify } = this.#env;
    const buffer = new EntryBuffer(config, clock, (stream, entries) =>
      notify({ kind: 'log_entries', stream, entries, dropped: 0 }),
    );
    const tags = compileTags(config.customTags);
    this.#buffers.add(buffer);
    return {
      write: (info) => buffer.add(encodeEntry(info, config, tags)),
      release: () => {
        this.#buffers.delete(buffer);
        buffer.flush();
      },
    };
  }

  async close(): Promise<void> {
    for (const buffer of this.#buffers) buffer.flush();
  }
}
