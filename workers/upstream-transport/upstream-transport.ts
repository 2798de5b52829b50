/**
 * Opens the byte stream to a host: plain or TLS, from the configured source address. The stream
 * says `onConnect` when bytes can be sent, with TLS after an accepted handshake.
 */
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { Struct } from '../../shared/text/dictionary.ts';
import type net from 'node:net';
import { isIPv6 } from '../../shared/addresses/ip-text.ts';
import type { ClusterResource, LocalSocket } from '../../shared/resources/clusters/cluster.ts';
import type { UpstreamSocketOptions } from '../../shared/resources/transport-sockets.ts';
import { connectToAny, inOrderOf } from '../net/connect-any.ts';
import type { ConnectionInfo, TlsInfo } from '../net/connection-info.ts';
import type { SharedValue } from '../net/mesh/shared-state.ts';
import type { ByteCounters, TransportHandler } from '../net/byte-stream.ts';
import { Transport } from '../net/transport.ts';
import type { ConnectTarget, UpstreamNames } from '../tls/upstream-tls.ts';
import type { UpstreamSockets } from './upstream-sockets.ts';
import { ExchangingHandler } from './exchanging-handler.ts';
import { proxyProtocolHeader } from './proxy-protocol-header.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';

export interface UpstreamTransport {
  readonly transport: Transport;
  readonly tls: TlsInfo | undefined;
}

export interface InternalTarget {
  readonly listener: string;
  readonly endpointId: string;
  /** By filter name; what the host's side knows of the connection. */
  readonly metadata: Map<string, Struct> | undefined;
  /** What filters keep for it. */
  readonly shared: readonly SharedValue[] | undefined;
}

interface Cluster {
  readonly loop: WorkerLoop;
  readonly resource: ClusterResource;
  readonly sockets: UpstreamSockets;
  /** A connection to a listener of this worker. */
  connectInside(to: InternalTarget): net.Socket;
}

interface Host {
  readonly hostname: string;
  readonly resource: HostResource;
}

/** For whom a connection is made. */
interface Wishes {
  readonly host: Host;
  /** Whose bytes these are; the host is told of it where it wants to know. */
  readonly client: ConnectionInfo | undefined;
  /** What their requests call the host. */
  readonly names?: UpstreamNames | undefined;
  /** What a listener inside is told. */
  readonly shared?: readonly SharedValue[] | undefined;
  /** The host has several addresses, and one but the first is tried. */
  readonly triedNextAddress?: () => void;
  /** What TLS offers where its own configuration names no protocol. */
  readonly alpn?: readonly string[] | undefined;
}

export function openUpstream(
  cluster: Cluster,
  wishes: Wishes,
  handler: TransportHandler,
  counters: ByteCounters | undefined,
): UpstreamTransport {
  const { exchange } = cluster.sockets;
  if (exchange === undefined) return openSocket(cluster, wishes, handler, counters);
  const exchanging = new ExchangingHandler(exchange, handler);
  return exchanging.over(openSocket(cluster, wishes, exchanging, counters));
}

function openSocket(
  cluster: Cluster,
  wishes: Wishes,
  handler: TransportHandler,
  counters: ByteCounters | undefined,
): UpstreamTransport {
  const { loop, resource } = cluster;
  const { host, client, names, alpn } = wishes;
  const { tls, proxyProtocol, handedOn, taps } = cluster.sockets.of(host);
  const preface = proxyProtocol && proxyProtocolHeader(proxyProtocol, client);
  const parts = { loop, handler, counters, watch: taps?.watch };
  const { address } = host.resource;
  const target =
    address.kind === 'internal'
      ? connectInside(cluster, host, { ...address, handedOn, shared: wishes.shared })
      : targetOf(resource, wishes);
  const local = 'host' in target ? localSocketOf(resource, target.host) : undefined;
  if (tls === undefined) {
    const transport =
      'socket' in target
        ? Transport.adopt(parts, target.socket)
        : Transport.connect(parts, target, {
            local,
            bufferLimitBytes: resource.perConnectionBufferLimitBytes,
          });
    if (preface !== undefined) transport.writeData(preface);
    return { transport, tls: undefined };
  }
  const { hostname } = host;
  const { socket, info } = tls.connect(target, {
    hostname,
    names,
    preface,
    local,
    fallbackAlpn: alpn,
  });
  if ('host' in target) socket.setNoDelay(true);
  const transport = Transport.adopt(parts, socket);
  return { transport, tls: info };
}

/** The listener inside is told what is handed on of the host and the cluster. */
function connectInside(
  cluster: Cluster,
  host: Host,
  to: Omit<InternalTarget, 'metadata'> & {
    readonly handedOn: UpstreamSocketOptions['handedOn'];
  },
): { readonly socket: net.Socket } {
  const { handedOn, listener, endpointId, shared } = to;
  const metadata = handedOn && new Map<string, Struct>();
  for (const { of, name } of handedOn ?? []) {
    const value = (of === 'host' ? host.resource : cluster.resource).metadata?.[name];
    if (value !== undefined) metadata?.set(name, value);
  }
  return {
    socket: cluster.connectInside({ listener, endpointId, metadata, shared: handedOn && shared }),
  };
}

const ignore = (): void => undefined;

function targetOf(
  cluster: ClusterResource,
  {
    host: {
      resource: { address, moreAddresses },
    },
    triedNextAddress = ignore,
  }: Wishes,
): ConnectTarget {
  switch (address.kind) {
    case 'internal':
      throw new Error('an internal listener is no address');
    case 'pipe':
      return { path: address.path };
    case 'ip': {
      const { address: host, port } = address;
      // A source address is of one family.
      if (moreAddresses === undefined || cluster.localSockets !== undefined) return { host, port };
      const addresses = inOrderOf([host, ...moreAddresses], cluster.firstFamily);
      return { socket: connectToAny(addresses, port, triedNextAddress) };
    }
  }
}

/** What connections to this address begin from; undefined: the system decides. */
export function localSocketOf(
  { localSockets }: ClusterResource,
  host: string,
): LocalSocket | undefined {
  return localSockets?.[isIPv6(host) ? 'v6' : 'v4'];
}
