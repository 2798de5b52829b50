/**
 * The admin interface of one server: when it opens, where, and that it closes for the next epoch
 * and opens again when that one dies.
 */
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { Clock } from '../../shared/process/clock.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import type { AdminContext } from '../admin/admin-context.ts';
import type { AdminHandle } from '../admin/start-admin.ts';
import type { HotRestartSession } from '../hot-restart/session.ts';
import type { LifeCycle } from '../life-cycle/life-cycle.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';
import { writeAdminAddressFile } from '../start/admin-address-file.ts';
import { makeAdminContext } from './make-admin-context.ts';
import type { ServerParts } from './server-parts.ts';

export interface ServerAdminInput {
  readonly options: Options;
  readonly commandLine: JsonObject;
  readonly version: string;
  readonly hotRestartVersion: string;
  readonly clock: Clock;
  readonly pool: WorkerPool;
  readonly session: HotRestartSession | undefined;
  readonly parts: ServerParts;
  readonly life: LifeCycle;
}

export class ServerAdmin {
  readonly #input: ServerAdminInput;
  #handle: AdminHandle | undefined;
  #context: AdminContext | undefined;

  constructor(input: ServerAdminInput) {
    this.#input = input;
  }

  /**
   * A server that waits for something can be asked why it takes long; one that does not is live
   * before anybody can ask, so that no probe sees a state that is over within milliseconds.
   */
  async startIfWaiting(mayListen: Promise<unknown>): Promise<boolean> {
    const turn = new Promise<'waiting'>((resolve) => setImmediate(() => resolve('waiting')));
    if ((await Promise.race([mayListen, turn])) !== 'waiting') return false;
    await this.start();
    return true;
  }

  /** `bound`: at the address that it had. */
  async start(bound?: BoundAddress): Promise<void> {
    const { parts, options, pool } = this.#input;
    const { admin } = parts.configuration.resolved;
    if (admin === undefined) {
      getLogger('main').warning('No admin address given, so no admin HTTP server started.');
      return;
    }
    const { startAdmin } = await import('../admin/start-admin.ts');
    const { accessRulesOf } = await import('../admin/access-rules.ts');
    this.#context ??= this.#makeContext();
    const { makeWorkerProfilers } = await import('../profiling/worker-profilers.ts');
    const { address, mode, socketOptions, allowPath, accessLogs, profilePath } = admin;
    this.#handle = await startAdmin(this.#context, {
      ...accessRulesOf(options),
      modulePages: parts.configuration.resolved.adminPages,
      addresses: [{ address: bound ?? address, mode, socketOptions }],
      accessLogs,
      workerProfilers: makeWorkerProfilers(pool),
      heapSampling: options.heapSampling,
      fileFlushIntervalMs: options.fileFlushIntervalMs,
      ...(profilePath === '' ? {} : { profilePath }),
      ...(allowPath === undefined ? {} : { allowPath }),
    });
    parts.commands.onReopenLogs(() => this.#handle?.reopenLogs());
    this.#publishAddress();
  }

  /** The next epoch gets the address. */
  stopListening(): void {
    this.#handle?.stopListening();
  }

  /** The next epoch is gone. */
  async reopen(): Promise<void> {
    const addresses = this.#handle?.addresses ?? [];
    this.#handle?.close();
    if (addresses.length > 0) await this.start(addresses[0]);
  }

  close(): void {
    this.#handle?.close();
  }

  #makeContext(): AdminContext {
    const { life, session } = this.#input;
    return makeAdminContext({
      ...this.#input,
      phase: () => life.phase,
      firstEpochStartUnixSeconds: session?.firstStartUnixSeconds,
    });
  }

  #publishAddress(): void {
    const { adminAddressPath } = this.#input.options;
    const [address] = this.#handle?.addresses ?? [];
    if (adminAddressPath === '' || address === undefined) return;
    const failure = writeAdminAddressFile(adminAddressPath, address);
    if (failure !== undefined) getLogger('admin').critical(failure);
  }
}
