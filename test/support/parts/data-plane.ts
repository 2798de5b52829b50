/** Runs a worker's data plane inside the test's own process, on a listening socket of its own. */
import { systemClock } from '../../../shared/process/clock.ts';
import type { WorkerHeritage } from '../../../shared/messages/heritage.ts';
import { bindSocket, listenOn, localAddress, openSocket } from '../../../shared/posix/sockets.ts';
import type {
  ClusterResource,
  HostResource,
  UpstreamHttpOptions,
} from '../../../shared/resources/clusters/cluster.ts';
import type {
  HttpConnectionManager,
  ListenerResource,
} from '../../../shared/resources/listener.ts';
import type { ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import type { Route, VirtualHost } from '../../../shared/resources/routes/route.ts';
import { ALL_TEMPLATES } from '../../../shared/stats/templates/all-templates.ts';
import type { DataPlane } from '../../../workers/data-plane/data-plane-commands.ts';
import type { DataPlaneEnv } from '../../../workers/loop/data-plane-env.ts';
import {
  CLUSTER_DEFAULTS,
  HOST_DEFAULTS,
  LISTENER_DEFAULTS,
  MANAGER_DEFAULTS,
} from '../../../workers/warm-up/default-resources.ts';
import { WARM_UP_HERITAGE } from '../../../workers/warm-up/warm-up-resources.ts';
import { createDataPlane } from '../../../workers/data-plane/data-plane.ts';
import { WorkerStatStore } from '../../../workers/stats/worker-stat-store.ts';
import { prefix, route, routeConfiguration, toCluster, virtualHost } from './routes.ts';

const SOCK_STREAM = 1;

export interface RunningDataPlane {
  readonly port: number;
  readonly plane: DataPlane;
  /** Values by whole name, as `/stats` would show them; histograms as their number of values. */
  stats(): ReadonlyMap<string, number>;
  /** Puts another version of the listener into force. */
  replaceListener(setup: DataPlaneSetup): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface DataPlaneSetup {
  readonly manager?: Partial<HttpConnectionManager>;
  readonly listener?: Partial<ListenerResource>;
  readonly routes?: readonly Route[];
  readonly virtualHost?: Partial<VirtualHost>;
  /** Ports of the hosts of the cluster `up`. */
  readonly upstreamPorts?: readonly number[];
  readonly cluster?: Partial<ClusterResource>;
  readonly upstreamHttp?: Partial<UpstreamHttpOptions>;
  readonly updates?: readonly ResourceUpdate[];
  readonly port?: number;
  readonly heritage?: Partial<WorkerHeritage>;
  /** Where there may be exceptions; else each fails the test. */
  readonly exceptions?: DataPlaneEnv['exceptions'];
}

function failLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** One listener with one virtual host; `/` goes to the cluster `up` unless routes are given. */
export async function startDataPlane(setup: DataPlaneSetup = {}): Promise<RunningDataPlane> {
  const stats = new WorkerStatStore();
  const totals = new StatTotals(stats);
  const plane = createDataPlane({
    heritage: { ...HERITAGE, ...setup.heritage },
    stats,
    clock: systemClock,
    exceptions: setup.exceptions ?? { note: failLater },
    notify: () => undefined,
    log: () => undefined,
  });
  const { fd, port } = openListener(setup.port ?? 0);
  const address = { kind: 'ip', family: 'v4', address: '127.0.0.1', port } as const;
  const hosts = (setup.upstreamPorts ?? []).map((each) => host(each));
  await plane.apply([
    { op: 'put_cluster', cluster: cluster('up', setup.cluster, setup.upstreamHttp) },
    { op: 'put_hosts', hosts: { cluster: 'up', hosts, overprovisioningFactor: 140 } },
    ...(setup.updates ?? []),
    { op: 'put_listener', listener: listener(setup, [address]) },
  ]);
  await plane.listen('web', [{ fd, address, backlog: 1024 }]);
  const replaceListener = (changed: DataPlaneSetup): void => {
    void plane.apply([{ op: 'put_listener', listener: listener(changed, [address]) }]);
  };
  const close = async (): Promise<void> => plane.close();
  return {
    port,
    plane,
    stats: () => totals.read(),
    replaceListener,
    close,
    [Symbol.asyncDispose]: close,
  };
}

export function cluster(
  name: string,
  changes: Partial<ClusterResource> = {},
  upstreamHttp: Partial<UpstreamHttpOptions> = {},
): ClusterResource {
  return {
    ...CLUSTER_DEFAULTS,
    name,
    statName: name,
    ...changes,
    upstreamHttp: { ...CLUSTER_DEFAULTS.upstreamHttp, ...upstreamHttp },
  };
}

export function host(port: number, changes: Partial<HostResource> = {}): HostResource {
  return {
    ...HOST_DEFAULTS,
    id: `127.0.0.1:${port}`,
    address: { kind: 'ip', address: '127.0.0.1', port },
    ...changes,
  };
}

/** The heritage of the only worker there is. */
export const HERITAGE: WorkerHeritage = {
  ...WARM_UP_HERITAGE,
  drainTimeS: 600,
  drainStrategy: 'gradual',
};

export function listener(
  setup: DataPlaneSetup,
  addresses: ListenerResource['addresses'],
): ListenerResource {
  const routes = setup.routes ?? [route(prefix('/'), toCluster())];
  const manager = {
    ...MANAGER_DEFAULTS,
    statPrefix: 'web',
    routes: {
      kind: 'inline',
      config: routeConfiguration([virtualHost(routes, setup.virtualHost)]),
    },
    ...setup.manager,
  } as const;
  return {
    ...LISTENER_DEFAULTS,
    name: 'web',
    statName: 'web',
    addresses,
    filterChains: [{ name: '', networkFilters: [manager] }],
    ...setup.listener,
  };
}

function openListener(port: number): { fd: number; port: number } {
  const address = { kind: 'ip', family: 'v4', address: '127.0.0.1', port } as const;
  const fd = openSocket(address, SOCK_STREAM);
  bindSocket(fd, address);
  listenOn(fd, 1024);
  const bound = localAddress(fd);
  if (bound?.kind !== 'ip') throw new Error('the listening socket has no address');
  return { fd, port: bound.port };
}

/** Adds up what the worker reports, as the supervisor would. */
export class StatTotals {
  readonly #store: WorkerStatStore;
  readonly #names = new Map<number, string>();
  readonly #totals = new Map<string, number>();

  constructor(store: WorkerStatStore) {
    this.#store = store;
  }

  read(): ReadonlyMap<string, number> {
    const report = this.#store.takeReport();
    for (const { base, template, prefix: blockPrefix } of report.blocks) {
      const found = ALL_TEMPLATES.find(({ id }) => id === template);
      found?.stats.forEach((spec, offset) => {
        this.#names.set(base + offset, blockPrefix + spec.name);
      });
    }
    for (const { index, name } of report.named) this.#names.set(index, name);
    for (let at = 0; at < report.deltas.length; at += 2) {
      this.#add(report.deltas[at] ?? -1, report.deltas[at + 1] ?? 0);
    }
    for (let at = 0; at < report.histograms.length; at += 3) {
      this.#add(report.histograms[at] ?? -1, report.histograms[at + 2] ?? 0);
    }
    return this.#totals;
  }

  #add(index: number, amount: number): void {
    const name = this.#names.get(index) ?? `unknown ${index}`;
    this.#totals.set(name, (this.#totals.get(name) ?? 0) + amount);
  }
}
