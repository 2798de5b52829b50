/** Istio's filters as its control plane writes them, a node of its mesh, and the other end of a wire. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { ProtoWriter } from '../../shared/protobuf/proto-writer.ts';
import { writeMembers } from '../../shared/protobuf/struct-message.ts';
import type { TestCertificate } from './parts/certificates.ts';
import { tlsSocket } from './parts/tls.ts';

export const NODE = {
  id: 'sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local',
  cluster: 'web.shop',
  locality: { region: 'east', zone: 'a' },
  metadata: {
    NAME: 'web-1',
    NAMESPACE: 'shop',
    WORKLOAD_NAME: 'web',
    CLUSTER_ID: 'one',
    OWNER: 'kubernetes://apis/apps/v1/namespaces/shop/deployments/web',
    LABELS: { app: 'web', version: 'v1', team: 'green', other: 'x' },
  },
};
export const TOLD = {
  AVAILABILITY_ZONE: 'a',
  CLUSTER_ID: 'one',
  LABELS: { app: 'web', team: 'green', version: 'v1' },
  NAME: 'web-1',
  NAMESPACE: 'shop',
  OWNER: 'kubernetes://apis/apps/v1/namespaces/shop/deployments/web',
  REGION: 'east',
  WORKLOAD_NAME: 'web',
};
export const PEER = {
  NAMESPACE: 'stock',
  WORKLOAD_NAME: 'store',
  CLUSTER_ID: 'two',
  LABELS: { 'service.istio.io/canonical-name': 'store-service' },
};
export const QUICK_LOGS = ['--file-flush-interval-msec', '10'];
export const EXCHANGE = 'istio-peer-exchange';
export const HEADERS = { istio_headers: {} };

/** As Istio's control plane writes settings of its filters. */
function struct(name: string, type: string, value: object): object {
  const url = `type.googleapis.com/${type}`;
  return {
    name,
    typed_config: { '@type': 'type.googleapis.com/udpa.type.v1.TypedStruct', type_url: url, value },
  };
}

export const peerMetadata = (value: object): object =>
  struct('istio.metadata_exchange', 'io.istio.http.peer_metadata.Config', {
    additional_labels: ['team'],
    ...value,
  });
export const tcpExchange = struct(
  'istio.metadata_exchange',
  'envoy.tcp.metadataexchange.config.MetadataExchange',
  { protocol: EXCHANGE, enable_discovery: true, additional_labels: ['team'] },
);
export const ALPN = {
  name: 'istio.alpn',
  typed_config: {
    '@type': 'type.googleapis.com/istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig',
    alpn_override: [
      { upstream_protocol: 'HTTP11', alpn_override: ['istio-http/1.1', 'istio', 'http/1.1'] },
    ],
  },
};
export const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
  },
};

export function bytesOf(members: object): Buffer {
  const writer = new ProtoWriter();
  writeMembers(writer, { ...members });
  return Buffer.from(writer.finish());
}

/** A message of the exchange between ends of TCP connections. */
export function exchanged(metadata: object): Buffer {
  const any = new ProtoWriter();
  any.text(1, 'type.googleapis.com/google.protobuf.Struct');
  any.bytes(2, bytesOf({ 'x-envoy-peer-metadata': metadata, 'x-envoy-peer-metadata-id': 'me' }));
  const head = Buffer.from('3d23046700000000', 'hex');
  head.writeUInt32BE(any.finish().length, 4);
  return Buffer.concat([head, any.finish()]);
}

export interface SecurePeer extends AsyncDisposable {
  readonly port: number;
  /** What clients offered by ALPN, in the order of the connections. */
  readonly offers: readonly (readonly string[])[];
}

export async function startSecurePeer(
  own: TestCertificate,
  protocol: string,
  serve: (socket: tls.TLSSocket) => void,
): Promise<SecurePeer> {
  const offers: string[][] = [];
  const server = tls.createServer({
    cert: own.cert,
    key: own.key,
    ALPNCallback: ({ protocols }) => {
      offers.push(protocols);
      return protocols.includes(protocol) ? protocol : undefined;
    },
  });
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  return { port, offers, [Symbol.asyncDispose]: stop };
}

export const upstreamTls = (protocols: readonly string[]): object => ({
  transport_socket: tlsSocket('Upstream', { common_tls_context: { alpn_protocols: protocols } }),
});
