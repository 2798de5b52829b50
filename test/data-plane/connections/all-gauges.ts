import { type RunningDataPlane } from '../../support/parts/data-plane.ts';
import { waitUntil } from '../../support/wait.ts';

/** Waits until nothing of a connection is left in the gauges of a data plane. */

/** Gauges of a worker that must be zero when nothing is open. */
const GAUGES = [
  'http.web.downstream_cx_active',
  'http.web.downstream_rq_active',
  'http.web.downstream_cx_http1_active',
  'listener.web.downstream_cx_active',
  'listener.web.worker_0.downstream_cx_active',
  'cluster.up.upstream_rq_active',
  'cluster.up.upstream_rq_pending_active',
];

export async function allGaugesAreZero(plane: RunningDataPlane): Promise<void> {
  await waitUntil('all gauges at zero', () => {
    const stats = plane.stats();
    return GAUGES.every((name) => (stats.get(name) ?? 0) === 0);
  });
}
