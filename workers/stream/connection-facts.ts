/**
 * What is known of a downstream connection from its stream; the local address is read when asked
 * for.
 */
import type { BoundAddress } from '../../shared/resources/listener.ts';
import type { Address, ConnectionInfo, TlsInfo } from '../net/connection-info.ts';
import type { StreamAddresses } from '../net/byte-stream.ts';
import { ipAddress, pipeAddress, socketAddress } from '../net/addresses.ts';

let lastConnectionId = 0;

/** The next connection is the first again: those before were nobody's. */
export function restartConnectionIds(): void {
  lastConnectionId = 0;
}

/** What all connections of one listening socket share. */
export interface ListenerInfo {
  readonly name: string;
  readonly direction: ConnectionInfo['direction'];
  readonly filterChainName: string;
  /** The local address of every connection, unless the socket listens on a wildcard address. */
  readonly localAddress: Address | undefined;
  /** What was known of this connection before it came here. */
  readonly dynamicMetadata?: ConnectionInfo['dynamicMetadata'];
}

export class ConnectionFacts implements ConnectionInfo {
  readonly id = ++lastConnectionId;
  remoteAddress: Address;
  readonly directRemoteAddress: Address;
  originalDestination: Address | undefined = undefined;
  requestedServerName = '';
  transportProtocol = 'raw_buffer';
  applicationProtocols: readonly string[] = [];
  tls: TlsInfo | undefined = undefined;
  terminationDetails = '';
  transportFailureReason = '';
  filterChainName: string;
  dynamicMetadata: ConnectionInfo['dynamicMetadata'];
  proxyTlvs: ConnectionInfo['proxyTlvs'] = undefined;
  fingerprints: ConnectionInfo['fingerprints'] = undefined;
  readonly #listener: ListenerInfo;
  readonly #addresses: StreamAddresses;
  #knownLocalAddress: Address | undefined;

  constructor(addresses: StreamAddresses, listener: ListenerInfo) {
    this.#addresses = addresses;
    this.#listener = listener;
    this.remoteAddress = socketAddress(addresses.remoteAddress, addresses.remotePort);
    this.directRemoteAddress = this.remoteAddress;
    this.filterChainName = listener.filterChainName;
    this.#knownLocalAddress = listener.localAddress;
    this.dynamicMetadata = listener.dynamicMetadata;
  }

  get listenerName(): string {
    return this.#listener.name;
  }

  get direction(): ConnectionInfo['direction'] {
    return this.#listener.direction;
  }

  /** What a proxy before us said of the connection. */
  overrideAddresses(remote: Address | undefined, local: Address | undefined): void {
    if (remote !== undefined) this.remoteAddress = remote;
    if (local === undefined) return;
    this.#knownLocalAddress = local;
    this.originalDestination = local;
  }

  /** What listener filters found out. */
  learn({
    serverName,
    metadata,
    proxyTlvs,
    fingerprints,
  }: {
    readonly serverName: string;
    readonly metadata: ConnectionInfo['dynamicMetadata'];
    readonly proxyTlvs: ConnectionInfo['proxyTlvs'];
    readonly fingerprints: ConnectionInfo['fingerprints'];
  }): void {
    this.requestedServerName = serverName;
    this.dynamicMetadata = metadata ?? this.dynamicMetadata;
    this.proxyTlvs = proxyTlvs;
    this.fingerprints = fingerprints;
  }

  get localAddress(): Address {
    return this.readLocalAddress();
  }

  /** Kept for readers when the connection is closed. */
  readLocalAddress(): Address {
    this.#knownLocalAddress ??= socketAddress(
      this.#addresses.localAddress,
      this.#addresses.localPort,
    );
    return this.#knownLocalAddress;
  }
}

/** The local address that every connection of a listening socket has, undefined for a wildcard. */
export function fixedLocalAddress(bound: BoundAddress): Address | undefined {
  if (bound.kind === 'pipe') return pipeAddress(bound.path);
  const isWildcard = bound.address === '0.0.0.0' || /^[0:]+$/.test(bound.address);
  return isWildcard ? undefined : ipAddress(bound.address, bound.port);
}
