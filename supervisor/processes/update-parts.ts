/**
 * How a batch of updates is cut into messages none of which holds up the loops that pack and read
 * it.
 */
import { HOSTS_PER_PART, weightOf } from '../../shared/resources/clusters/host-parts.ts';
import { routesIn } from '../../shared/resources/routes/route-parts.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';

/** Packing so many blocks the loop for a few milliseconds at most. */
const UPDATES_PER_MESSAGE = 200;

/** How many updates travel in the next message; a batch of clusters is a message of its own. */
export function firstPart(updates: readonly ResourceUpdate[]): number {
  let weight = 0;
  let count = 0;
  for (; count < Math.min(updates.length, UPDATES_PER_MESSAGE); count++) {
    const update = updates[count];
    if (update?.op === 'put_idle_clusters') break;
    if (update?.op === 'put_hosts') weight += weightOf(update.hosts.hosts);
    // A route is read as fast as two hosts.
    if (update?.op === 'put_route_configuration') weight += 2 * routesIn(update.routes);
    if (weight > 2 * HOSTS_PER_PART) break;
  }
  return Math.max(count, 1);
}
