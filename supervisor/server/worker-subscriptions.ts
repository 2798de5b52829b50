/** Which part of the server hears which event of a worker. */
import type { ForwardedNotice, WorkerEvents } from '../processes/worker-events.ts';
import type { ServerParts } from './server-parts.ts';

export function workerSubscriptions(parts: ServerParts): WorkerEvents {
  const { stats, serverStats, upstreams } = parts;
  return {
    spawned: (index) => {
      stats.workerSpawned(index);
      serverStats.workerReplaced();
    },
    reported: (index, report) => stats.workerReported(index, report),
    noticed: (notice) => deliver(notice, parts),
    gone: (index, exit) => {
      stats.workerGone(index);
      upstreams.workerGone(index);
      serverStats.workerGone(exit);
    },
  };
}

function deliver(notice: ForwardedNotice, { upstreams, dynamic, taps }: ServerParts): void {
  switch (notice.kind) {
    case 'routes_wanted':
      return dynamic.routesWanted(notice);
    case 'tapped':
    case 'tap_lost':
      return taps.heard(notice);
    default:
      return upstreams.heard(notice);
  }
}
