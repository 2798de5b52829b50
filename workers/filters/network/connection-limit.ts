/** connection_limit: closes connections above a number that all workers count together. */
import type { ConnectionLimit } from '../../../shared/resources/filters/network/connection-limit.ts';
import { readBoolean } from '../../../shared/runtime/read-runtime.ts';
import { dottedPrefix } from '../../../shared/stats/stat-scope.ts';
import { CONNECTION_LIMIT } from '../../../shared/resources/filters/network/connection-limit.ts';
import type { NetworkFilterContext } from '../network-filter-context.ts';
import type { NetworkGate } from '../network-gate.ts';

export function makeConnectionLimitGate(
  filter: ConnectionLimit,
  context: NetworkFilterContext,
): NetworkGate {
  const { stats, runtime } = context;
  const { maxConnections, delayMs, enabled } = filter;
  const { active_connections: active, limited_connections: limited } = CONNECTION_LIMIT.index;
  const base = stats.defineBlock(
    CONNECTION_LIMIT,
    dottedPrefix(`connection_limit.${filter.statPrefix}`),
  );
  const count = context.sharedCount(filter.place);
  return {
    onConnection() {
      const isOn = readBoolean(runtime.snapshot, enabled.runtimeKey, enabled.isDefault);
      if (isOn && !count.tryOpen(maxConnections)) {
        stats.increment(base + limited);
        return delayMs > 0 ? delayMs : false;
      }
      if (!isOn) count.add(1);
      stats.add(base + active, 1);
      return true;
    },
    onEnd() {
      count.add(-1);
      stats.subtract(base + active, 1);
    },
    release: () => stats.releaseBlock(base),
  };
}
