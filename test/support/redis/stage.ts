/** A Redis proxy in the test's own process, from its configuration to its sockets. */
import { bootstrap, staticCluster } from '../parts/bootstrap.ts';
import { type RunningDataPlane, startDataPlane } from '../parts/data-plane.ts';
import { filterListener, networkFilter } from '../parts/tcp-listener.ts';
import { openRaw } from '../peers/raw-client.ts';
import type { RedisServer } from './server.ts';
import { resolveConfig } from '../../unit/supervisor/resources/resolve-text.ts';

const REDIS_OPTIONS = 'envoy.filters.network.redis_proxy';

/** To the cluster `store` unless told; statistics are below `redis.cache.`. */
function redisListener(config: object = {}, settings: object = {}): object {
  const filter = networkFilter('redis_proxy', 'redis_proxy.v3.RedisProxy', {
    stat_prefix: 'cache',
    settings: { op_timeout: '5s', ...settings },
    prefix_routes: { catch_all_route: { cluster: 'store' } },
    ...config,
  });
  return filterListener([filter], { name: 'web' });
}

/** What a cluster says of its hosts as Redis servers. */
export function redisOptions(options: object): object {
  const type = 'type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3';
  return {
    typed_extension_protocol_options: {
      [REDIS_OPTIONS]: { '@type': `${type}.RedisProtocolOptions`, ...options },
    },
  };
}

export interface RedisStage {
  readonly port: number;
  readonly plane: RunningDataPlane['plane'];
  /** Sends each command when the one before it is answered; gives the answers. */
  ask(...commands: readonly string[]): Promise<string>;
  stat(name: string): number;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RedisSetup {
  readonly config?: object;
  readonly settings?: object;
  /** The options of each cluster. */
  readonly cluster?: object;
}

/** Clusters by name, with the ports or servers of their hosts. */
export async function startRedis(
  clusters: Readonly<Record<string, RedisServer | readonly number[]>>,
  { config, settings, cluster }: RedisSetup = {},
): Promise<RedisStage> {
  const outcome = await resolveConfig(
    bootstrap({
      listeners: [redisListener(config, settings)],
      clusters: Object.entries(clusters).map(([name, hosts]) =>
        staticCluster(name, 'port' in hosts ? [hosts.port] : hosts, cluster),
      ),
    }),
  );
  const resolved = outcome.kind === 'resolved' ? outcome.resolution.bootstrap : undefined;
  const [listener] = resolved?.listeners ?? [];
  if (resolved === undefined || listener === undefined) throw new Error('it was refused');
  const { filterChains } = listener.resource;
  const running = await startDataPlane({
    listener: { filterChains },
    updates: resolved.clusters.flatMap(({ resource, hosts }) => [
      { op: 'put_cluster', cluster: resource } as const,
      { op: 'put_hosts', hosts } as const,
    ]),
  });
  return {
    port: running.port,
    plane: running.plane,
    stat: (name) => running.stats().get(name) ?? 0,
    async ask(...commands) {
      const client = await openRaw(running.port);
      for (const command of commands) {
        const before = client.received().length;
        client.send(command);
        await client.until((text) => text.length > before && text.endsWith('\r\n'));
      }
      client.destroy();
      return client.received();
    },
    [Symbol.asyncDispose]: () => running.close(),
  };
}
