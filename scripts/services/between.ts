/** Sluice between a client and a host of node:http, with filters that ask a real service. */
import { bootstrap, httpListener, staticCluster } from '../../test/support/parts/bootstrap.ts';
import { type Answer, type Ask, fetchOnce } from '../../test/support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../test/support/peers/upstream.ts';
import { type Sluice, startSluice } from '../../test/support/programs/sluice.ts';

export const FILTERS = 'type.googleapis.com/envoy.extensions.filters';

export interface AskedBetween {
  /** Before the router. */
  readonly filters?: readonly object[];
  /** The one route to the host. */
  readonly route?: object;
  /** More fields of the connection manager. */
  readonly hcm?: object;
  /** Beside the host's, which is `up`. */
  readonly clusters: readonly object[];
  readonly listeners?: readonly object[];
  /** More fields of the listener `web`. */
  readonly listener?: object;
  readonly secrets?: readonly object[];
  /** More fields of the bootstrap. */
  readonly fields?: object;
}

export interface Between extends AsyncDisposable {
  readonly sluice: Sluice;
  readonly upstream: HttpUpstream;
  readonly port: number;
  ask(options?: Omit<Ask, 'port'>): Promise<Answer>;
}

export async function startAsking(asked: AskedBetween): Promise<Between> {
  const upstream = await startHttpUpstream();
  const { filters = [], route = {}, hcm = {}, clusters, listeners = [], fields = {} } = asked;
  const { listener = {}, secrets = [] } = asked;
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up', ...route } }];
  const router = { name: 'router', typed_config: { '@type': `${FILTERS}.http.router.v3.Router` } };
  const manager = { http_filters: [...filters, router], ...hcm };
  const static_resources = {
    listeners: [httpListener(routes, { hcm: manager, listener }), ...listeners],
    clusters: [staticCluster('up', [upstream.port]), ...clusters],
    secrets,
  };
  const sluice = await startSluice({ bootstrap: bootstrap({}, { static_resources, ...fields }) });
  const port = await sluice.listenerPort('web');
  return {
    sluice,
    upstream,
    port,
    ask: async (options = {}) => fetchOnce({ port, ...options }),
    [Symbol.asyncDispose]: async () => {
      await sluice[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** A filter by the last part of its name, as HTTP filters of the API are named. */
export function httpFilter(name: string, message: string, config: object): object {
  const typed_config = { '@type': `${FILTERS}.http.${name}.v3.${message}`, ...config };
  return { name: `envoy.filters.http.${name}`, typed_config };
}

export function grpcService(cluster_name: string): object {
  return { grpc_service: { envoy_grpc: { cluster_name }, timeout: '2s' } };
}
