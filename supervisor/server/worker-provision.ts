/** What a new worker is told, read from the parts of the server at that moment. */
import { randomBytes } from 'node:crypto';
import type { LogSettings } from '../../shared/logging/log-settings.ts';
import { processLog } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import { optional } from '../resources/values.ts';
import { startUpdates } from '../store/start-updates.ts';
import type { ServerParts } from './server-parts.ts';
import { LazyBatches } from '../store/lazy-batches.ts';
import type { UnansweredCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerProvision } from '../processes/worker-slot.ts';

export interface ProvisionInput {
  readonly logSettings: LogSettings;
  /** Resolves when connections may be accepted. */
  readonly mayListen: Promise<unknown>;
  /** What the next epoch has changed; absent without hot restarts. */
  readonly next: { notices(): readonly UnansweredCommand[] } | undefined;
}

/** What the runtime wants: a name, a key for the hash and a key for the cipher, 16 bytes each. */
const TICKET_KEY_BYTES = 48;
/** Unless --file-flush-min-size-kb says otherwise. */
const FILE_FLUSH_MIN_SIZE_KB = 64;

export function makeWorkerProvision(
  parts: ServerParts,
  options: Options,
  { logSettings, mayListen, next }: ProvisionInput,
): WorkerProvision {
  const { resolved } = parts.configuration;
  const idleBatches = new LazyBatches();
  const ticketKeys = randomBytes(TICKET_KEY_BYTES).toString('base64');
  return {
    heritageOf: (workerIndex) => ({
      workerIndex,
      concurrency: options.concurrency,
      fileFlushIntervalMs: options.fileFlushIntervalMs,
      fileFlushMinSizeKb: options.fileFlushMinSizeKb ?? FILE_FLUSH_MIN_SIZE_KB,
      drainTimeS: options.drainTimeS,
      drainStrategy: options.drainStrategy,
      ...(options.drainIdleCloseMs === undefined
        ? {}
        : { drainIdleCloseMs: options.drainIdleCloseMs }),
      log: { ...logSettings, levels: processLog.registry.allLevels },
      enableCoreDump: options.enableCoreDump,
      localAddressIpVersion: options.localAddressIpVersion,
      ticketKeys,
      ...optional('maxDownstreamConnections', resolved.overload?.maxConnections),
      node: resolved.node,
      nodeMessage: parts.node.encoded,
      ...optional('localCluster', resolved.localCluster),
    }),
    killTimeoutMs: resolved.workerKillTimeoutMs,
    resources: () => [
      { op: 'put_runtime', values: [...parts.runtime.snapshot()] },
      { op: 'put_overload', state: parts.overload.state },
      ...startUpdates(
        parts.configuration.store,
        (name) => parts.upstreams.hostsToStartWith(name),
        idleBatches,
      ),
      ...parts.upstreams.warmingUpdates(),
      ...parts.listeners.resources().map((listener) => ({ op: 'put_listener', listener }) as const),
    ],
    mayListen,
    listeners: () => parts.listeners.sockets(),
    notices: () => [
      ...parts.commands.notices(),
      ...parts.taps.notices(),
      ...(next?.notices() ?? []),
    ],
  };
}
