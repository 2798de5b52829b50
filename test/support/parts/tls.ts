/**
 * TLS for whole-program tests: transport sockets of listeners and clusters, and one request over
 * TLS.
 */
import tls from 'node:tls';
import { httpListener } from './bootstrap.ts';
import type { TestCertificate } from './certificates.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3';

export function tlsSocket(kind: 'Downstream' | 'Upstream', fields: object): object {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: { '@type': `${TYPE}.${kind}TlsContext`, ...fields },
  };
}

/** A `TlsCertificate` of files. */
export function certificateFiles({ certPath, keyPath }: TestCertificate): object {
  return { certificate_chain: { filename: certPath }, private_key: { filename: keyPath } };
}

export function secretMessage(name: string, fields: object): object {
  return { '@type': `${TYPE}.Secret`, name, ...fields };
}

/** The listener of `bootstrap.ts` with a transport socket. */
export function secureListener(routes: readonly object[], transportSocket: object): object {
  const listener = httpListener(routes) as { filter_chains: readonly object[] };
  const chains = listener.filter_chains.map((chain) => ({
    ...chain,
    transport_socket: transportSocket,
  }));
  return { ...listener, filter_chains: chains };
}

export interface TlsExchange {
  readonly text: string;
  /** Common name of the server's certificate. */
  readonly name: string;
  readonly isReused: boolean;
  /** By ALPN. */
  readonly protocol: string | false | null;
  readonly session: Buffer | undefined;
}

/** One request over TLS; `text` is empty when the connection was refused. */
export async function askSecurely(
  port: number,
  options: tls.ConnectionOptions = {},
  path = '/',
  headers = 'host: h',
): Promise<TlsExchange> {
  const client = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  let text = '';
  let name = '';
  let isReused = false;
  let protocol: string | false | null = null;
  let session: Buffer | undefined;
  client.on('session', (each) => (session = each));
  client.on('secureConnect', () => {
    isReused = client.isSessionReused();
    protocol = client.alpnProtocol;
    // A resumed session shows no certificate.
    if (!isReused) name = String(client.getPeerCertificate().subject.CN);
    client.write(`GET ${path} HTTP/1.1\r\n${headers}\r\nconnection: close\r\n\r\n`);
  });
  client.on('data', (piece: Buffer) => (text += piece.toString('latin1')));
  await new Promise<void>((resolve) => {
    client.on('error', () => undefined);
    client.on('close', () => resolve());
  });
  return { text, name, isReused, protocol, session };
}
