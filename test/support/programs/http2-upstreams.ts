/** The program in front of hosts that speak HTTP/2. */
import type { ServerHttp2Stream } from 'node:http2';
import { bootstrap, httpListener, staticCluster } from '../parts/bootstrap.ts';
import { type Sluice, startSluice } from './sluice.ts';

const EXTENSION = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** The typed options of a cluster. */
export function protocol(options: object): object {
  const typed = { '@type': `type.googleapis.com/${EXTENSION}`, ...options };
  return { typed_extension_protocol_options: { [EXTENSION]: typed } };
}

export function http2(options: object = {}, more: object = {}): object {
  return protocol({ explicit_http_config: { http2_protocol_options: options }, ...more });
}

export interface Setup {
  readonly cluster?: object;
  readonly route?: object;
  readonly hcm?: object;
}

/** Everything to the cluster `up` on that port, which speaks HTTP/2 unless told. */
export async function proxyToHttp2(
  port: number,
  setup: Setup = {},
): Promise<Sluice & { readonly port: number }> {
  const route = { cluster: 'up', timeout: '0s', ...setup.route };
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [
        httpListener([{ match: { prefix: '/' }, route }], {
          hcm: { http_protocol_options: { enable_trailers: true }, ...setup.hcm },
        }),
      ],
      clusters: [
        staticCluster('up', [port], { connect_timeout: '10s', ...(setup.cluster ?? http2()) }),
      ],
    }),
  });
  return Object.assign(sluice, { port: await sluice.listenerPort('web') });
}

/** Nothing of any request is left. */
export async function isQuiet(sluice: Sluice): Promise<void> {
  const names = ['upstream_rq_active', 'upstream_rq_pending_active', 'http2.streams_active'];
  for (const name of names) await sluice.waitForStat(`cluster.up.${name}`, (value) => value === 0);
}

export function echo(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'x-host': 'h2' });
  stream.pipe(stream);
}
