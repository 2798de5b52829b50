/**
 * Loggers whose entries go to a service over gRPC. As in Envoy, loggers of one configuration share
 * one buffer and one stream per worker, however many listeners name it.
 */
import type { LogServiceConfig } from '../../../../shared/resources/access-loggers/grpc.ts';
import { GRPC_ACCESS_LOG } from '../../../../shared/stats/templates/telemetry.ts';
import type { Logger, LoggerEnv, Loggers } from '../../logger.ts';
import { compileTags } from '../../../telemetry/custom-tags.ts';
import { EntryBuffer } from './entry-buffer.ts';
import { encodeEntry } from './log-entry.ts';

interface SharedBuffer {
  readonly buffer: EntryBuffer;
  loggers: number;
}

export class GrpcLoggers implements Loggers<LogServiceConfig> {
  readonly #env: LoggerEnv;
  readonly #buffers = new Map<string, SharedBuffer>();
  #base: number | undefined = undefined;

  constructor(env: LoggerEnv) {
    this.#env = env;
  }

  open(config: LogServiceConfig): Logger {
    const key = keyOf(config);
    const shared = this.#buffers.get(key) ?? { buffer: this.#buffer(config), loggers: 0 };
    this.#buffers.set(key, shared);
    shared.loggers += 1;
    const tags = compileTags(config.customTags);
    return {
      write: (info) => shared.buffer.add(encodeEntry(info, config, tags)),
      release: () => {
        shared.loggers -= 1;
        if (shared.loggers > 0) return;
        this.#buffers.delete(key);
        shared.buffer.end(() => undefined);
      },
    };
  }

  async close(): Promise<void> {
    const all = [...this.#buffers.values()];
    this.#buffers.clear();
    const ended = all.map(async ({ buffer }) => {
      await new Promise<void>((resolve) => {
        this.#env.loop.run(undefined, () => buffer.end(resolve));
      });
    });
    await Promise.all(ended);
  }

  #buffer(config: LogServiceConfig): EntryBuffer {
    const { loop, stats, grpcServices, heritage } = this.#env;
    // Once there is a log the statistics stay.
    this.#base ??= stats.defineBlock(GRPC_ACCESS_LOG, 'access_logs.grpc_access_log.');
    const { nodeMessage } = heritage;
    return new EntryBuffer(config, { loop, stats, grpcServices, nodeMessage }, this.#base);
  }
}

/** The part of a configuration that loggers have in common; the rest is each one's own. */
function keyOf({
  stream,
  flushIntervalMs,
  bufferBytes,
  filterState,
  customTags,
}: LogServiceConfig): string {
  return JSON.stringify([stream, flushIntervalMs, bufferBytes, filterState, customTags]);
}
