/** What the trials of HTTP/2 stand on: a server of node:http2 behind Sluice, and Sluice with TLS. */
import type { ServerHttp2Stream } from 'node:http2';
import {
  bootstrap,
  httpListener,
  type HttpListenerOptions,
  staticCluster,
} from '../../../test/support/parts/bootstrap.ts';
import { makeAuthority, type TestAuthority } from '../../../test/support/parts/certificates.ts';
import { certificateFiles, tlsSocket } from '../../../test/support/parts/tls.ts';
import { type Http2Upstream, startHttp2Upstream } from '../../../test/support/peers/http2.ts';
import { http2 } from '../../../test/support/programs/http2-upstreams.ts';
import { type Sluice, startSluice } from '../../../test/support/programs/sluice.ts';
import { makeScratch } from '../../../test/support/scratch.ts';

/** The name in the certificates of the trials. */
export const HOST = 'localhost';

export interface Between {
  readonly upstreamPort: number;
  /** TLS with the client and with the host; absent: plain bytes. */
  readonly secure?: Secure;
  readonly hcm?: object;
  /** The host speaks HTTP/1 when it says so. */
  readonly hostProtocol?: 'http1' | 'http2';
}

export interface Secure {
  readonly authority: TestAuthority;
  readonly leaf: ReturnType<TestAuthority['issue']>;
}

/** A CA and a leaf for localhost in that folder. */
export function makeSecure(folder: string): Secure {
  const authority = makeAuthority(folder);
  return { authority, leaf: authority.issue('leaf', `DNS:${HOST},IP:127.0.0.1`, 'rsa') };
}

/** Sluice on `port`; every request goes to the one host, with no time limit on answers. */
export async function startBetween(
  between: Between,
): Promise<Sluice & { readonly port: number; readonly url: string }> {
  const { upstreamPort, secure, hcm = {}, hostProtocol = 'http2' } = between;
  const route = { cluster: 'up', timeout: '0s' };
  const options: HttpListenerOptions = {
    hcm: { http_protocol_options: { enable_trailers: true }, ...hcm },
  };
  const listener = httpListener([{ match: { prefix: '/' }, route }], options) as {
    filter_chains: readonly object[];
  };
  const filter_chains = listener.filter_chains.map((chain) => ({
    ...chain,
    ...(secure === undefined ? {} : { transport_socket: towardsClients(secure) }),
  }));
  const cluster = {
    connect_timeout: '10s',
    ...(hostProtocol === 'http2' ? http2() : {}),
    ...(secure === undefined ? {} : { transport_socket: tlsSocket('Upstream', { sni: HOST }) }),
  };
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [{ ...listener, filter_chains }],
      clusters: [staticCluster('up', [upstreamPort], cluster)],
    }),
  });
  const port = await sluice.listenerPort('web');
  const url = secure === undefined ? `http://127.0.0.1:${port}` : `https://${HOST}:${port}`;
  return Object.assign(sluice, { port, url });
}

function towardsClients({ leaf }: Secure): object {
  return tlsSocket('Downstream', {
    common_tls_context: {
      tls_certificates: [certificateFiles(leaf)],
      alpn_protocols: ['h2', 'http/1.1'],
    },
  });
}

/** A host of node:http2 that says what it got, and a Sluice before it. */
export async function throughHttp2<T>(
  isSecure: boolean,
  use: (sluice: Sluice & { readonly port: number; readonly url: string }, ca: string) => Promise<T>,
): Promise<T> {
  using scratch = makeScratch();
  const secure = isSecure ? makeSecure(scratch.path) : undefined;
  await using upstream = await startCounting(secure);
  await using sluice = await startBetween({
    upstreamPort: upstream.port,
    ...(secure === undefined ? {} : { secure }),
  });
  const result = await use(sluice, secure?.authority.certPath ?? '');
  await isAllOver(sluice);
  return result;
}

/** No request or stream is left at either side. */
export async function isAllOver(sluice: Sluice): Promise<void> {
  const names = [
    'http.web.downstream_rq_active',
    'cluster.up.upstream_rq_active',
    'cluster.up.http2.streams_active',
  ];
  for (const name of names) await sluice.waitForStat(name, (value) => value === 0);
}

function startCounting(secure: Secure | undefined): Promise<Http2Upstream> {
  const answer = (stream: ServerHttp2Stream, method: string): void => {
    let bytes = 0;
    stream.on('data', (piece: Buffer) => (bytes += piece.length));
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'content-type': 'text/plain' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-bytes': String(bytes) }));
      stream.end(`got ${bytes} bytes by ${method}`);
    });
  };
  return startHttp2Upstream(
    (stream, headers) => answer(stream, headers[':method'] ?? ''),
    secure === undefined ? {} : { tls: secure.leaf },
  );
}
