/**
 * Opens the byte stream to a host: plain or TLS, from the configured source address. The stream says
 * `onConnect` when bytes can be sent, with TLS after an accepted handshake.
 */
import type net from 'node:net';
import { parseAuthority } from '../../shared/authority.ts';
import type { ClusterResource, HostAddress } from '../../shared/resources/cluster.ts';
import type { ConnectionInfo, TlsInfo } from '../net/connection-info.ts';
import { type ByteCounters, Transport, type TransportHandler } from '../net/transport.ts';
import type { ConnectTarget } from '../tls/upstream-tls.ts';
import type { UpstreamHost } from './host.ts';
import type { UpstreamSockets } from './upstream-sockets.ts';
import { proxyProtocolHeader } from './proxy-protocol-header.ts';
import type { WorkerLoop } from '../worker-loop.ts';

export interface UpstreamTransport {
  readonly transport: Transport;
  readonly tls: TlsInfo | undefined;
}

interface Cluster {
  readonly loop: WorkerLoop;
  readonly resource: ClusterResource;
  readonly sockets: UpstreamSockets;
}

type Host = Pick<UpstreamHost, 'hostname' | 'resource'>;

/** `client` is whose bytes these are; the host is told of it where it wants to know. */
export function openUpstream(
  cluster: Cluster,
  { host, client }: { readonly host: Host; readonly client: ConnectionInfo | undefined },
  handler: TransportHandler,
  counters: ByteCounters,
): UpstreamTransport {
  const { loop, resource } = cluster;
  const { tls, proxyProtocol } = cluster.sockets.of(host);
  const preface = proxyProtocol && proxyProtocolHeader(proxyProtocol, client);
  const parts = { loop, handler, counters };
  const target = targetOf(resource, host.resource.address);
  if (tls === undefined) {
    const transport = Transport.connect(parts, target, {
      keepAliveS: keepAliveS(resource),
      bufferLimitBytes: resource.perConnectionBufferLimitBytes,
    });
    if (preface !== undefined) transport.writeData(preface);
    return { transport, tls: undefined };
  }
  const hostname = tlsNameOf(resource, host);
  const { socket, info } = tls.connect(target, { hostname, preface });
  setOptions(socket, resource, target);
  const transport = Transport.adopt(parts, socket);
  return { transport, tls: info };
}

/** Hosts that requests name are called `name:port`. */
function tlsNameOf({ forwardProxy }: ClusterResource, { hostname }: Host): string {
  if (forwardProxy === undefined) return hostname;
  return parseAuthority(hostname, forwardProxy.defaultPort).host;
}

function targetOf({ sourceAddress }: ClusterResource, address: HostAddress): ConnectTarget {
  if (address.kind === 'pipe') return { path: address.path };
  const from =
    sourceAddress === undefined
      ? {}
      : { localAddress: sourceAddress.address, localPort: sourceAddress.port };
  return { host: address.address, port: address.port, ...from };
}

function setOptions(socket: net.Socket, resource: ClusterResource, target: ConnectTarget): void {
  if ('path' in target) return;
  socket.setNoDelay(true);
  const delayS = keepAliveS(resource);
  if (delayS !== undefined) socket.setKeepAlive(true, delayS * 1000);
}

function keepAliveS({ tcpKeepalive }: ClusterResource): number | undefined {
  return tcpKeepalive === undefined ? undefined : (tcpKeepalive.timeS ?? 0);
}
