/**
 * The way of a connection into its listener: refused by limits and overloads, looked at by listener
 * filters, given to the filter chain that it matches, and served.
 */
import type { SharedValue } from '../net/mesh/shared-state.ts';
import {
  handedOnAddresses,
  keepHandedOn,
  type HandedOn,
  type OriginalAddresses,
} from './handed-on.ts';
import type net from 'node:net';
import type { BoundAddress, ListenerResource } from '../../shared/resources/listener.ts';
import type { Transport } from '../net/transport.ts';
import type { OpenedConnection, ServedConnection } from '../stream/chain-server.ts';
import {
  ConnectionFacts,
  fixedLocalAddress,
  type ListenerInfo,
} from '../stream/connection-facts.ts';
import type { Accepted } from './acceptor.ts';
import type { CompiledChain } from './chain-selector.ts';
import type { CompiledListener } from './compiled-listener.ts';
import type { ListenerLimits } from './connection-limits.ts';
import type { ListenerContext } from './listener-context.ts';
import type { ListenerCounts } from './listener-counts.ts';
import type { EarlyInfo, ListenerFilterRunner } from './listener-filter.ts';
import { type EndListener, OpenConnection, type OpenConnections } from './open-connections.ts';
import {
  openAccepted,
  openSocket,
  originalAddress,
  socketOf,
  type TransportUse,
} from './open-transport.ts';
import { matchesPort } from './port-predicate.ts';
import { PreConnection } from './pre-connection.ts';

const PLAIN = { transportProtocol: 'raw_buffer', applicationProtocols: [] } as const;

type OpenTransport = (use: TransportUse) => OpenedConnection;

/** The listener that connections come into. */
export interface ServingListener {
  readonly name: string;
  /** The version in force. */
  readonly current: CompiledListener;
  readonly counts: ListenerCounts;
  readonly limits: ListenerLimits;
  readonly connections: OpenConnections;
  /** Hears of the end of each connection. */
  readonly ended: EndListener;
  /** Listener filters look at no connection for this version any more. */
  letGoOfUnused(version: CompiledListener): void;
}

export class ConnectionIntake {
  readonly #listener: ServingListener;
  readonly #context: ListenerContext;
  /** Accepted connections that listener filters look at. */
  readonly #waiting = new Map<PreConnection, CompiledListener>();

  constructor(listener: ServingListener, context: ListenerContext) {
    this.#listener = listener;
    this.#context = context;
  }

  /** Connections that listener filters look at. */
  get waiting(): number {
    return this.#waiting.size;
  }

  waitsFor(version: CompiledListener): boolean {
    for (const each of this.#waiting.values()) if (each === version) return true;
    return false;
  }

  closeWaiting(): void {
    for (const waiting of this.#waiting.keys()) waiting.close();
  }

  /** Takes a connection of a cluster of this worker. */
  acceptInside(socket: net.Socket, { metadata, shared }: HandedOn): void {
    const version = this.#listener.current;
    const { direction } = version.resource;
    const facts = {
      name: this.#listener.name,
      direction,
      filterChainName: '',
      localAddress: undefined,
    };
    if (this.#isRefused(version.resource)) socket.destroy();
    else {
      const told = { metadata, shared };
      const original = version.readsOriginal ? handedOnAddresses(told) : undefined;
      this.#receive(socket, { ...facts, dynamicMetadata: metadata }, original, shared);
    }
  }

  /** Takes a connection of one of the listening sockets. */
  accept(accepted: Accepted, bound: BoundAddress): void {
    const { loop } = this.#context;
    const version = this.#listener.current;
    const listener = this.#factsOf(version, bound);
    loop.run({ onException: () => socketOf(accepted).destroy() }, () => {
      if (version.readsOriginal) this.#acceptRedirected(socketOf(accepted), listener);
      else if (this.#isRefused(version.resource)) socketOf(accepted).destroy();
      else this.#take(accepted, listener);
    });
  }

  #take(accepted: Accepted, listener: ListenerInfo): void {
    const version = this.#listener.current;
    const { only } = version.chains;
    if (only?.server !== undefined && version.listenerFilters.length === 0) {
      const facts = { ...listener, filterChainName: only.resource.name };
      this.#serve(version, only, (use) => openAccepted(accepted, facts, use));
    } else {
      this.#receive(socketOf(accepted), listener, undefined);
    }
  }

  /** The connection is the listener's that it was sent to, where this one hands on. */
  #acceptRedirected(socket: net.Socket, listener: ListenerInfo): void {
    const original = originalAddress(socket);
    const { handsOffToOriginal } = this.#listener.current.resource;
    const other =
      original === undefined || !handsOffToOriginal
        ? undefined
        : this.#context.listenerOf(original)?.intake;
    const owner = other ?? this;
    if (owner.#isRefused(owner.#listener.current.resource)) socket.destroy();
    else owner.#receive(socket, listener, { local: original });
  }

  /** Takes a connection that this listener or another one accepted. */
  #receive(
    socket: net.Socket,
    listener: ListenerInfo,
    original: OriginalAddresses | undefined,
    shared?: readonly SharedValue[],
  ): void {
    const version = this.#listener.current;
    const own = { ...listener, name: this.#listener.name, direction: version.resource.direction };
    const facts = new ConnectionFacts(socket, own);
    facts.overrideAddresses(original?.remote, original?.local);
    if (shared !== undefined) keepHandedOn(facts, shared);
    const filters = version.listenerFilters.filter(
      ({ disabled }) => disabled === undefined || !matchesPort(disabled, facts.localAddress.port),
    );
    if (filters.length === 0) this.#choose(version, socket, facts);
    else this.#inspect(version, filters, socket, facts);
  }

  /** A connection that is not refused counts until `limits.closed`. */
  #isRefused(resource: ListenerResource): boolean {
    const { overload } = this.#context;
    if (
      !resource.bypassesOverload &&
      (overload.rejectsConnection() || overload.sheds('tcp_listener_accept'))
    ) {
      this.#listener.counts.refused('downstream_cx_overload_reject');
      return true;
    }
    const refusal = this.#listener.limits.tryOpen(resource);
    if (refusal === undefined) return false;
    const isGlobal = refusal === 'global';
    this.#listener.counts.refused(
      isGlobal ? 'downstream_global_cx_overflow' : 'downstream_cx_overflow',
    );
    return true;
  }

  /** Lets listener filters look at the first bytes before the chain is chosen. */
  #inspect(
    version: CompiledListener,
    filters: readonly ListenerFilterRunner[],
    socket: net.Socket,
    facts: ConnectionFacts,
  ): void {
    const { loop } = this.#context;
    const counts = this.#listener.counts;
    const { listenerFiltersTimeoutMs: timeoutMs, continuesAfterTimeout } = version.resource;
    counts.waits();
    const options = { loop, filters, timeoutMs, connection: facts };
    const waiting = new PreConnection(socket, options, (how) => {
      this.#waiting.delete(waiting);
      counts.decided(how);
      if (how === 'ready' || (how === 'timeout' && continuesAfterTimeout)) {
        facts.overrideAddresses(waiting.facts.remote, waiting.facts.local);
        facts.learn(waiting.facts);
        this.#choose(version, socket, facts, waiting.facts);
      } else {
        this.#listener.limits.closed(version.resource);
        socket.destroy();
      }
      this.#listener.letGoOfUnused(version);
    });
    this.#waiting.set(waiting, version);
    waiting.start();
  }

  /** Finds the chain by what is known, and serves the connection with it. */
  #choose(
    version: CompiledListener,
    socket: net.Socket,
    facts: ConnectionFacts,
    early: Pick<EarlyInfo, 'transportProtocol' | 'applicationProtocols'> = PLAIN,
  ): void {
    facts.transportProtocol = early.transportProtocol;
    facts.applicationProtocols = early.applicationProtocols;
    const chain = version.chains.choose(facts);
    if (chain?.server === undefined) {
      if (chain === undefined) this.#listener.counts.refused('no_filter_chain_match');
      this.#listener.limits.closed(version.resource);
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    facts.filterChainName = chain.resource.name;
    this.#serve(version, chain, (use) => openSocket(socket, facts, use));
  }

  #serve(version: CompiledListener, chain: CompiledChain, open: OpenTransport): void {
    const { server, tls } = chain;
    const watch = chain.watch?.();
    if (server === undefined) return;
    const { loop } = this.#context;
    const counts = this.#listener.counts;
    counts.opened();
    const place = new OpenConnection({ version, chain, counts }, this.#listener.ended);
    let connection: ServedConnection;
    let transport: Transport | undefined;
    try {
      connection = server.create(place, (handler) => {
        const opened = open({ loop, handler, server, tls, watch });
        ({ transport } = opened);
        if (version.showsLocalAddress) opened.info.readLocalAddress();
        return opened;
      });
    } catch (error) {
      transport?.reset();
      counts.closed(0);
      this.#listener.limits.closed(version.resource);
      throw error;
    }
    this.#listener.connections.add(place, connection);
    try {
      connection.start?.();
    } catch (error) {
      loop.failed(error, { onException: () => connection.close() });
    }
  }

  #factsOf(version: CompiledListener, bound: BoundAddress): ListenerInfo {
    return {
      name: this.#listener.name,
      direction: version.resource.direction,
      filterChainName: '',
      localAddress: fixedLocalAddress(bound),
    };
  }
}
