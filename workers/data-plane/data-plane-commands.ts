/**
 * What the worker's receive loop (process/commanded-worker.ts) commands: everything that carries
 * traffic. The loop knows nothing of HTTP, the data plane nothing of the channel.
 */
import type { OperatedConnections } from '../connections/operated-connections.ts';
import type { QuotaClients } from '../filters/http/rate-limit-quota/quota-clients.ts';
import type { ScriptModules } from '../filters/http/script/script-modules.ts';
import type { AskedRequest, Explanation } from '../../shared/explain/explanation.ts';
import type { SupervisorToWorker } from '../../shared/messages/supervisor-to-worker.ts';
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { RequestWatches } from '../watched/request-watches.ts';
import type { DrainCommand, ListeningDescriptor } from '../listener/listener-commands.ts';
import type { LastRefusals } from '../manager/last-refusals.ts';

export type TapCommand = Omit<Extract<SupervisorToWorker, { readonly kind: 'set_tap' }>, 'kind'>;

export interface DataPlane {
  /**
   * Applies a batch whole, or throws or rejects with nothing changed. Resolves when it is in force;
   * undefined: it is.
   */
  apply(updates: readonly ResourceUpdate[]): Promise<void> | undefined;
  /**
   * Starts accepting on descriptors for a listener that was put before; rejects on the first
   * failure.
   */
  listen(listener: string, sockets: readonly ListeningDescriptor[]): Promise<void>;
  /**
   * Closes the listening descriptors; resolves when none accepts any more. `takesWaiting`: what waits
   * in the sockets is taken first.
   */
  stopListening(listeners: readonly string[], takesWaiting: boolean): Promise<void>;
  drain(drain: DrainCommand): void;
  /** Ends the drain of these listeners, or every drain. */
  undrain(listeners?: readonly string[]): void;
  /** Open connections per listener. */
  countConnections(): readonly ListenerConnections[];
  /** Ends what is open on these listeners at once. */
  cutConnections(listeners: readonly string[]): void;
  /** Open connections one by one, and their end. */
  readonly connections: Pick<OperatedConnections, 'list' | 'listFurther' | 'close'>;
  /** Requests whose way is logged. */
  readonly watches: Pick<RequestWatches, 'watch'>;
  /** The last requests that were refused. */
  readonly refusals: Pick<LastRefusals, 'read'>;
  setHealthCheckFailed(failed: boolean): void;
  /** Modules of the operator. */
  readonly scripts: Pick<ScriptModules, 'disable' | 'list' | 'prepare' | 'use' | 'drop' | 'maps'>;
  /** Quotas of requests that workers share. */
  readonly quotas: Pick<QuotaClients, 'take'>;
  setCheckingWorkers(workers: readonly number[]): void;
  /** What would become of a request; takes turns with traffic, and changes nothing. */
  explain(asked: AskedRequest): Promise<Explanation>;
  /** A client's tap begins or ends. */
  setTap(tap: TapCommand): void;
  reopenLogs(): void;
  /** Cuts what is open, flushes access logs, resolves when all is written. */
  close(): Promise<void>;
}
