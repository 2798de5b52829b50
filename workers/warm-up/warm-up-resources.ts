/**
 * What the data plane of a warm-up serves: the listener `front` passes every request to a cluster
 * whose only host is the listener `back`, which answers by itself. Nothing here is taken from a
 * configuration, so that no host, file or statistic of the user is touched.
 */
import { dictionary } from '../../shared/text/dictionary.ts';
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type { ClusterResource } from '../../shared/resources/clusters/cluster.ts';
import type { HttpConnectionManager, ListenerResource } from '../../shared/resources/listener.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { Route, RouteAction } from '../../shared/resources/routes/route.ts';
import {
  CLUSTER_DEFAULTS,
  CLUSTER_ROUTE_DEFAULTS,
  HOST_DEFAULTS,
  LISTENER_DEFAULTS,
  MANAGER_DEFAULTS,
  MATCH_DEFAULTS,
  ROUTES_DEFAULTS,
  ROUTE_DEFAULTS,
  VIRTUAL_HOST_DEFAULTS,
} from './default-resources.ts';

/** Most of the commands of Envoy's usual line. */
const LOG_FORMAT =
  '[%START_TIME%] "%REQUEST_HEADER(:METHOD)% %REQUEST_HEADER(X-ENVOY-ORIGINAL-PATH?:PATH)% ' +
  '%PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ' +
  '%RESPONSE_HEADER(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQUEST_HEADER(X-FORWARDED-FOR)%" ' +
  '"%REQUEST_HEADER(USER-AGENT)%" "%REQUEST_HEADER(X-REQUEST-ID)%" ' +
  '"%REQUEST_HEADER(:AUTHORITY)%" "%UPSTREAM_HOST%"\n';
/** Lines are written, and nobody ever sees them. */
const NOWHERE = '/dev/null';

/** The heritage of a worker that nobody knows. */
export const WARM_UP_HERITAGE: WorkerHeritage = {
  workerIndex: 0,
  concurrency: 1,
  fileFlushIntervalMs: 10_000,
  fileFlushMinSizeKb: 64,
  drainTimeS: 1,
  drainStrategy: 'immediate',
  ticketKeys: Buffer.alloc(48).toString('base64'),
  log: {
    levels: { default: 'off', components: {}, files: [] },
    format: '',
    isEscaped: false,
    isFineGrain: false,
    path: '',
    isStackSingleEntry: false,
  },
  enableCoreDump: false,
  localAddressIpVersion: 'v4',
  node: { id: '', cluster: '', zone: '', metadata: dictionary<unknown>() },
  nodeMessage: Buffer.alloc(0),
};

/** The names of both listeners. */
export const FRONT = 'front';
export const BACK = 'back';

/** `path` is where `back` listens, as connect(2) takes it. */
export function warmUpResources(path: string, body: string): readonly ResourceUpdate[] {
  const answer: RouteAction = { kind: 'direct_response', status: 200, body: Buffer.from(body) };
  const host = { ...HOST_DEFAULTS, id: 'back', address: { kind: 'pipe', path } } as const;
  return [
    { op: 'put_cluster', cluster },
    { op: 'put_hosts', hosts: { cluster: 'up', hosts: [host], overprovisioningFactor: 140 } },
    { op: 'put_listener', listener: listener(BACK, answer) },
    {
      op: 'put_listener',
      listener: listener(FRONT, {
        ...CLUSTER_ROUTE_DEFAULTS,
        cluster: { kind: 'cluster', name: 'up' },
      }),
    },
  ];
}

const cluster: ClusterResource = { ...CLUSTER_DEFAULTS, name: 'up', statName: 'up' };

function listener(name: string, action: RouteAction): ListenerResource {
  return {
    ...LISTENER_DEFAULTS,
    name,
    statName: name,
    filterChains: [{ name: '', networkFilters: [manager(name, action)] }],
    ignoreGlobalConnLimit: true,
    bypassesOverload: true,
    drainsOnHealthCheckFailure: false,
  };
}

function manager(name: string, action: RouteAction): HttpConnectionManager {
  const format = { kind: 'text', format: LOG_FORMAT, omitEmptyValues: false } as const;
  const all = { name: 'all', domains: ['*'], routes: [route(action)] };
  const virtualHosts = [{ ...VIRTUAL_HOST_DEFAULTS, ...all }];
  return {
    ...MANAGER_DEFAULTS,
    codec: 'HTTP1',
    statPrefix: name,
    accessLogs: [{ kind: 'lines', sink: { kind: 'file', path: NOWHERE }, format }],
    routes: { kind: 'inline', config: { ...ROUTES_DEFAULTS, name: 'routes', virtualHosts } },
  };
}

function route(action: RouteAction): Route {
  const match = { ...MATCH_DEFAULTS, path: { kind: 'prefix', value: '/' } } as const;
  return { ...ROUTE_DEFAULTS, action, match };
}
