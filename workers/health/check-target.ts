/**
 * How a check reaches a host: over which address, with whose sockets, and how the connection
 * begins.
 */
import type { Socket } from 'node:net';
import type {
  ClusterResource,
  HostAddress,
  HostResource,
} from '../../shared/resources/clusters/cluster.ts';
import type { HealthCheckResource } from '../../shared/resources/clusters/health-check.ts';
import type { ProxyProtocolSender } from '../../shared/resources/clusters/proxy-protocol.ts';
import { socketAddress } from '../net/addresses.ts';
import { type ConnectTarget, socketTo } from '../tls/upstream-tls.ts';
import { proxyProtocolHeader } from '../upstream-transport/proxy-protocol-header.ts';
import type { UpstreamSockets } from '../upstream-transport/upstream-sockets.ts';
import { type InternalTarget, localSocketOf } from '../upstream-transport/upstream-transport.ts';
import type { ProbeTarget } from './probe.ts';

export interface CheckConnections {
  readonly resource: ClusterResource;
  readonly sockets: Pick<UpstreamSockets, 'of' | 'matching'>;
  connectInside(to: InternalTarget): Socket;
  /** Where a check that counts as traffic of the cluster does so; undefined: the host is gone. */
  checkStats(host: HostResource): CheckStats | undefined;
}

export function checkTarget(
  ways: CheckConnections,
  host: HostResource,
  check: Partial<Pick<HealthCheckResource, 'socketCriteria' | 'alpn' | 'probe'>>,
): ProbeTarget {
  const { sockets, resource } = ways;
  const { socketCriteria: criteria, alpn } = check;
  const { tls, proxyProtocol } =
    criteria === undefined ? sockets.of({ resource: host }) : sockets.matching(criteria);
  const authority = host.check?.hostname ?? resource.name;
  const open = (): Socket => {
    const target = targetOf(ways, host);
    const local = 'host' in target ? localSocketOf(resource, target.host) : undefined;
    return beginWith(proxyProtocol, socketTo(target, local));
  };
  if (tls === undefined) return { authority, readyEvent: 'connect', open };
  const wishes = { hostname: host.hostname, alpn: alpn ?? alpnFor(check.probe) };
  return {
    authority,
    readyEvent: 'secureConnect',
    open: () => tls.connect({ socket: open() }, wishes).socket,
  };
}

/** Checks speak HTTP/2 where the cluster does not; undefined: what the cluster offers. */
function alpnFor(probe: HealthCheckResource['probe'] | undefined): readonly string[] | undefined {
  const isHttp2 = probe?.kind === 'grpc' || (probe?.kind === 'http' && probe.isHttp2);
  return isHttp2 ? ['h2'] : undefined;
}

/** A check has no client: the first version names the connection's own ends, the second nobody. */
export function checkHeader(sender: ProxyProtocolSender, socket: Socket): Buffer {
  if (sender.version === 'V2') return proxyProtocolHeader(sender, undefined);
  return proxyProtocolHeader(sender, {
    remoteAddress: socketAddress(socket.localAddress, socket.localPort),
    localAddress: socketAddress(socket.remoteAddress, socket.remotePort),
  });
}

function beginWith(sender: ProxyProtocolSender | undefined, socket: Socket): Socket {
  if (sender === undefined) return socket;
  const write = (): void => void socket.write(checkHeader(sender, socket));
  if (socket.connecting) socket.once('connect', write);
  else write();
  return socket;
}

function targetOf(ways: CheckConnections, host: HostResource): ConnectTarget {
  const address = host.check?.address ?? host.address;
  if (address.kind === 'internal') {
    return { socket: ways.connectInside({ ...address, metadata: undefined, shared: undefined }) };
  }
  return connectTarget(address, host);
}

/** The host's own address for checks, or its own port at the usual address. */
function connectTarget(
  address: Exclude<HostAddress, { kind: 'internal' }>,
  host: HostResource,
): ConnectTarget {
  if (address.kind === 'pipe') {
    return { path: address.path.startsWith('@') ? `\0${address.path.slice(1)}` : address.path };
  }
  const ownPort = host.check?.address === undefined ? undefined : address.port;
  const port = ownPort ?? host.check?.port ?? address.port;
  return { host: address.address, port };
}

/** Counts the connections and commands of checks whose client is a cluster's own, as Redis's is. */
export interface CheckStats {
  opened(): void;
  connected(): void;
  asked(): void;
  answered(): void;
  /** This side gives up what it asked for. */
  cancelled(): void;
  closed(how: 'local' | 'remote'): void;
}
