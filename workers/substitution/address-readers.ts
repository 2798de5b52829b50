/** Substitution commands about connections and hosts: addresses, ports, ids, how they ended. */
import { networkOf } from '../../shared/addresses/network-of.ts';

import { toByteString } from '../../shared/regex/byte-string.ts';
import type { FormatCommand } from '../../shared/substitution/format.ts';
import type { Address } from '../net/connection-info.ts';
import type { StreamInfo, UpstreamHostInfo } from '../stream/stream-info.ts';
import { plain, present, unknown } from './reader-factory.ts';
import type { ReaderFactory } from './reader-factory.ts';
import type { Reader } from './reader-factory.ts';

type AddressOf = (info: StreamInfo) => Pick<Address, 'kind' | 'ip' | 'port' | 'text'> | undefined;
type TextOfHost = (host: UpstreamHostInfo) => string;

const local: AddressOf = (info) => info.connection.localAddress;
const remote: AddressOf = (info) => info.downstreamRemoteAddress;
const directRemote: AddressOf = (info) => info.connection.directRemoteAddress;
const upstreamLocal: AddressOf = (info) => info.upstreamLocalAddress;

/** What is known of a host for the commands that print it. */
const hostAddress: TextOfHost = (host) => host.address;
const hostIp: TextOfHost = (host) => host.ip || host.address;
const hostName: TextOfHost = (host) => toByteString(host.hostname) || host.address;
const hostNameAlone: TextOfHost = (host) =>
  withoutPort(toByteString(host.hostname)) || hostIp(host);

export const ADDRESS_READERS = {
  CONNECTION_ID: plain((info) => info.connection.id),
  CONNECTION_TERMINATION_DETAILS: plain((info) => present(info.connection.terminationDetails)),
  DOWNSTREAM_TRANSPORT_FAILURE_REASON: plain((info) =>
    present(info.connection.transportFailureReason.replaceAll(' ', '_')),
  ),
  DOWNSTREAM_DETECTED_CLOSE_TYPE: plain(() => 'Normal'),
  DOWNSTREAM_LOCAL_CLOSE_REASON: unknown,
  DOWNSTREAM_LOCAL_ADDRESS: text(local),
  DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT: ip(local),
  DOWNSTREAM_LOCAL_PORT: port(local),
  DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID: plain(() => ''),
  DOWNSTREAM_DIRECT_LOCAL_ADDRESS: text(local),
  DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT: ip(local),
  DOWNSTREAM_DIRECT_LOCAL_PORT: port(local),
  DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID: plain(() => ''),
  DOWNSTREAM_REMOTE_ADDRESS: text(remote),
  DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: ip(remote),
  DOWNSTREAM_REMOTE_PORT: port(remote),
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS: text(directRemote),
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT: ip(directRemote),
  DOWNSTREAM_DIRECT_REMOTE_PORT: port(directRemote),
  UPSTREAM_CLUSTER: plain((info) => toByteString(clusterAlias(info)) || undefined),
  UPSTREAM_CLUSTER_RAW: plain((info) => toByteString(info.upstreamCluster) || undefined),
  UPSTREAM_HOST: host(hostAddress),
  UPSTREAM_HOST_NAME: host(hostName),
  UPSTREAM_HOST_NAME_WITHOUT_PORT: host(hostNameAlone),
  UPSTREAM_REMOTE_ADDRESS: connected(hostAddress),
  UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: upstreamIp,
  UPSTREAM_REMOTE_PORT: plain((info) =>
    info.upstreamConnectionId === 0 ? undefined : info.upstreamHost?.port || undefined,
  ),
  UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID: connected(() => ''),
  UPSTREAM_HOSTS_ATTEMPTED: connected(hostAddress),
  UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT: connected(hostIp),
  UPSTREAM_HOST_NAMES_ATTEMPTED: connected(hostName),
  UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT: connected(hostNameAlone),
  UPSTREAM_LOCAL_ADDRESS: text(upstreamLocal),
  UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT: ip(upstreamLocal),
  UPSTREAM_LOCAL_PORT: port(upstreamLocal),
  UPSTREAM_CONNECTION_ID: plain((info) => info.upstreamConnectionId),
  UPSTREAM_CONNECTION_IDS_ATTEMPTED: plain((info) =>
    info.upstreamConnectionId === 0 ? undefined : String(info.upstreamConnectionId),
  ),
  UPSTREAM_REQUEST_ATTEMPT_COUNT: plain((info) => info.attemptCount),
  UPSTREAM_TRANSPORT_FAILURE_REASON: plain((info) =>
    present(info.upstreamTransportFailureReason.replaceAll(' ', '_')),
  ),
  UPSTREAM_DETECTED_CLOSE_TYPE: host(() => 'Normal'),
  UPSTREAM_LOCAL_CLOSE_REASON: unknown,
} satisfies Record<string, ReaderFactory>;

function text(addressOf: AddressOf): ReaderFactory {
  return plain((info) => addressOf(info)?.text);
}

function port(addressOf: AddressOf): ReaderFactory {
  return plain((info) => {
    const address = addressOf(info);
    return address?.kind === 'ip' ? address.port : undefined;
  });
}

/** The address alone or, with a number between the brackets, the network of that length. */
function ip(addressOf: AddressOf): ReaderFactory {
  return ({ args: [length] }) => {
    const prefix = prefixLength(length);
    return (info) => {
      const address = addressOf(info);
      if (address === undefined) return undefined;
      if (prefix === undefined || address.kind !== 'ip') return address.ip;
      return networkOf(address.ip, prefix);
    };
  };
}

function upstreamIp({ args: [length] }: FormatCommand): Reader {
  const prefix = prefixLength(length);
  return ({ upstreamHost, upstreamConnectionId }) => {
    if (upstreamHost === undefined || upstreamConnectionId === 0) return undefined;
    if (prefix === undefined || upstreamHost.ip === '') return hostIp(upstreamHost);
    return networkOf(upstreamHost.ip, prefix);
  };
}

function host(textOf: TextOfHost): ReaderFactory {
  return plain(({ upstreamHost }) =>
    upstreamHost === undefined ? undefined : textOf(upstreamHost),
  );
}

/** The host, once there was a connection to it. */
function connected(textOf: TextOfHost): ReaderFactory {
  return plain(({ upstreamHost, upstreamConnectionId }) =>
    upstreamHost === undefined || upstreamConnectionId === 0 ? undefined : textOf(upstreamHost),
  );
}

function withoutPort(name: string): string {
  return name.replace(/:\d+$/, '');
}

function prefixLength(length: string | undefined): number | undefined {
  return length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined;
}

function clusterAlias({ upstreamCluster: name, upstreamClusterAlias: alias }: StreamInfo): string {
  return name === '' || alias === '' ? name : alias;
}
