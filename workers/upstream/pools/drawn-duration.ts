/** How long a connection to a host may last: what its cluster says, and a random part of that more. */
import type { ClusterResource } from '../../../shared/resources/clusters/cluster.ts';

/** Lengths that are drawn: there is a list of timers for each. */
const STEPS = 64;

/** 0: for ever. */
export function drawnDurationMs({ upstreamHttp }: Pick<ClusterResource, 'upstreamHttp'>): number {
  const { maxConnectionDurationMs: ms = 0, maxConnectionDurationJitter: share = 0 } = upstreamHttp;
  if (ms === 0 || share === 0) return ms;
  return Math.ceil(ms * (1 + (share * Math.floor(Math.random() * (STEPS + 1))) / STEPS));
}
