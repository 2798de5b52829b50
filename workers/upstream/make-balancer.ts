/** Makes the balancer that a cluster's policy asks for. */
import type { ClusterResource } from '../../shared/resources/cluster.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { HOST } from '../../shared/stats/templates/cluster.ts';
import { HashBalancer } from './hash-balancer.ts';
import { buildMaglev, buildRing, type HashTable } from './hash-tables.ts';
import type { UpstreamHost } from './host.ts';
import { LeastRequestPicker } from './least-request-picker.ts';
import type { HostPicker, LoadBalancer } from './load-balancer.ts';
import { PriorityBalancer } from './priority-balancer.ts';
import { RandomPicker } from './random-picker.ts';
import { RoundRobinPicker } from './round-robin-picker.ts';

export interface BalancerContext {
  readonly stats: StatWriter;
  /** A whole number from 0 that differs between workers and moments. */
  readonly randomSeed: () => number;
  /** Told of each new table of a policy that hashes. */
  readonly onTable: (table: HashTable) => void;
}

const RQ_ACTIVE = HOST.index.rq_active;
const RING_DEFAULTS = {
  minRingSize: 1024,
  maxRingSize: 8 * 1024 * 1024,
  hashFunction: 'XX_HASH',
  usesHostname: false,
} as const;
const MAGLEV_DEFAULTS = { tableSize: 65_537, usesHostname: false } as const;

export function makeBalancer(
  { lbPolicy }: ClusterResource,
  context: BalancerContext,
): LoadBalancer {
  const { kind, healthyPanicThreshold: panicThreshold } = lbPolicy;
  const { stats, randomSeed, onTable } = context;
  const random = Math.random;
  const weighsLocalities = lbPolicy.weighsLocalities === true;
  const byPriority = (makePicker: (hosts: readonly UpstreamHost[]) => HostPicker): LoadBalancer =>
    new PriorityBalancer({ panicThreshold, makePicker, weighsLocalities, random });
  switch (kind) {
    case 'RANDOM':
      return byPriority((hosts) => new RandomPicker(hosts, random));
    case 'LEAST_REQUEST': {
      const parts = {
        options: lbPolicy.leastRequest ?? { choiceCount: 2, activeRequestBias: 1 },
        random,
        activeRequests: (host: UpstreamHost): number => stats.valueOf(host.statBase + RQ_ACTIVE),
      };
      return byPriority((hosts) => new LeastRequestPicker(hosts, parts));
    }
    case 'RING_HASH': {
      const options = lbPolicy.ringHash ?? RING_DEFAULTS;
      const buildTable = (hosts: readonly UpstreamHost[]): HashTable => buildRing(hosts, options);
      return new HashBalancer({ panicThreshold, buildTable, random, onTable });
    }
    case 'MAGLEV': {
      const { tableSize, usesHostname } = lbPolicy.maglev ?? MAGLEV_DEFAULTS;
      const buildTable = (hosts: readonly UpstreamHost[]): HashTable =>
        buildMaglev(hosts, tableSize, usesHostname);
      return new HashBalancer({ panicThreshold, buildTable, random, onTable });
    }
    case 'ROUND_ROBIN':
    case 'CLUSTER_PROVIDED':
      return byPriority((hosts) => new RoundRobinPicker(hosts, randomSeed()));
  }
}
