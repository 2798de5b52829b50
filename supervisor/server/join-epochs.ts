/** Both roles of this server in hot restarts, each with the parts of the server that it needs. */
import type { Clock } from '../../shared/process/clock.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import { Predecessor } from '../hot-restart/predecessor.ts';
import type { HotRestartSession } from '../hot-restart/session.ts';
import { Successor } from '../hot-restart/successor.ts';
import type { Ending } from '../life-cycle/ending.ts';
import type { LifeCycle } from '../life-cycle/life-cycle.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';
import type { ServerParts } from './server-parts.ts';

export interface JoiningServer {
  readonly session: HotRestartSession;
  readonly options: Options;
  readonly clock: Clock;
  readonly ending: Ending;
  readonly life: LifeCycle;
  readonly pool: WorkerPool;
  readonly parts: ServerParts;
  readonly closeAdmin: () => void;
  readonly reopenAdmin: () => Promise<void>;
}

export interface Epochs {
  readonly successor: Successor;
  readonly predecessor: Predecessor;
}

export function joinEpochs(server: JoiningServer): Epochs {
  const { session, options, clock, ending, life, pool, closeAdmin, reopenAdmin } = server;
  const { configuration, listeners, stats, serverStats, statStore, hostOrders } = server.parts;
  session.refusals.onCounted((kind, count) =>
    statStore.add(statStore.defineCounter(`sluice.hot_restart.${kind}`), count),
  );
  const successor = new Successor({
    session,
    clock,
    stats,
    showParent: (open) => serverStats.setParent(open),
    bindListeners: (take, isParentThere) =>
      listeners.takeAll(configuration.resolved.listeners, options.concurrency, take, isParentThere),
    takeHostOrders: (orders) => hostOrders.import(orders),
    claimFiles: () => listeners.claimFiles(),
  });
  const predecessor = new Predecessor({
    session,
    clock,
    life,
    listeners,
    workers: pool,
    stats,
    connections: () => serverStats.connections,
    drainsImmediately: options.drainStrategy === 'immediate',
    hostOrders: () => hostOrders.export(),
    closeAdmin,
    reopenAdmin,
    end: (reason) => ending.request(reason),
    endParent: () => successor.endParent(),
    log: getLogger('main').log,
  });
  return { successor, predecessor };
}
