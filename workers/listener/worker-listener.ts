/**
 * One listener in this worker: its acceptors, its open connections and their accounting. A new
 * version of the listener's resource replaces the filter chain for new connections; open ones go on
 * with theirs.
 */
import type { Transport } from '../net/transport.ts';
import type net from 'node:net';
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type { BoundAddress, ListenerResource } from '../../shared/resources/listener.ts';
import type { AccessLog } from '../access-log/types.ts';
import type { ListeningDescriptor } from './listener-commands.ts';
import type { Address, ConnectionInfo } from '../net/connection-info.ts';
import type { OverloadGate } from '../loop/overload-gate.ts';
import type { WorkerStats } from '../stats/worker-stats.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { type Accepted, Acceptor } from './acceptor.ts';
import type { OpenedConnection, ServedConnection } from '../stream/chain-server.ts';
import { survivorsOf } from './chain-changes.ts';
import type { CompiledChain } from './chain-selector.ts';
import type { CompiledListener } from './compiled-listener.ts';
import type { EarlyInfo, ListenerFilterRunner } from './listener-filter.ts';
import { matchesPort } from './port-predicate.ts';
import { PreConnection } from './pre-connection.ts';
import type { ConnectionLimits, ListenerLimits } from './connection-limits.ts';
import { LISTENER_EXTENSIONS } from '../../shared/stats/templates/listener.ts';
import { ListenerCounts } from './listener-counts.ts';
import { type EndListener, OpenConnection, OpenConnections } from './open-connections.ts';
import {
  openAccepted,
  openSocket,
  originalAddress,
  socketOf,
  type TransportUse,
} from './open-transport.ts';
import { RetiredVersion } from './retired-version.ts';
import {
  ConnectionFacts,
  fixedLocalAddress,
  type ListenerInfo,
} from '../stream/connection-facts.ts';

export interface ListenerContext {
  readonly loop: WorkerLoop;
  readonly stats: WorkerStats;
  readonly workerIndex: number;
  readonly limits: ConnectionLimits;
  readonly overload: OverloadGate;
  /** The listener of an address that a connection was meant for, bound or not. */
  listenerOf(address: Address): WorkerListener | undefined;
  /** When what drains from now on is over. */
  afterDrain(action: () => void): void;
}

export class WorkerListener {
  readonly name: string;
  readonly #context: ListenerContext;
  readonly #limits: ListenerLimits;
  /** From when connections may come. */
  #ownCounts: ListenerCounts | undefined;
  /** What is counted before connections may come. */
  #extensions: number;
  #current: CompiledListener;
  readonly #acceptors = new Set<Acceptor>();
  readonly #connections = new OpenConnections();
  readonly #ended: EndListener = (connection, place) => this.#onEnd(connection, place);
  /** Accepted connections that listener filters look at. */
  readonly #waiting = new Map<PreConnection, CompiledListener>();
  /** Versions that were replaced or removed, while connections use them. */
  readonly #retired = new Map<CompiledListener, RetiredVersion>();
  #isStopped = false;

  constructor(compiled: CompiledListener, context: ListenerContext) {
    const { name, isInternal } = compiled.resource;
    this.name = name;
    this.#context = context;
    this.#limits = context.limits.ofListener(name);
    this.#current = compiled;
    this.#extensions = this.#defineExtensions();
    if (isInternal === true) this.#ownCounts = this.#makeCounts();
  }

  /** Rejects on the first descriptor that cannot be listened on. */
  async listen(descriptors: readonly ListeningDescriptor[]): Promise<void> {
    this.#ownCounts ??= this.#makeCounts();
    for (const descriptor of descriptors) {
      const acceptor = await Acceptor.listen(descriptor, (accepted) => {
        this.#accept(accepted, descriptor.address);
      });
      this.#acceptors.add(acceptor);
    }
  }

  /** `takesWaiting`: connections that wait in the sockets are taken first. */
  async stopListening(takesWaiting: boolean): Promise<void> {
    const closing = [...this.#acceptors].map((acceptor) => acceptor.close(takesWaiting));
    this.#acceptors.clear();
    this.#isStopped = true;
    await Promise.all(closing);
  }

  /**
   * Puts a new version into force. Returns the chains with open connections that go with the old.
   */
  replace(compiled: CompiledListener): ReadonlySet<CompiledChain> {
    const earlier = this.#current;
    this.#current = compiled;
    if (earlier.resource.statName !== compiled.resource.statName) this.#startCounts();
    const survives = survivorsOf(earlier.resource, compiled.resource);
    const gone = new Set<CompiledChain>();
    for (const chain of this.#connections.chains()) {
      if (chain.drain.drain === undefined && !survives(chain.resource)) gone.add(chain);
    }
    this.#retire(earlier);
    return gone;
  }

  #startCounts(): void {
    this.#endCounts();
    this.#extensions = this.#defineExtensions();
    this.#ownCounts &&= this.#makeCounts();
  }

  #defineExtensions(): number {
    const { statName } = this.#current.resource;
    return this.#context.stats.defineBlock(LISTENER_EXTENSIONS, `listener.${statName}.`);
  }

  /** Statistics of what is gone are there while it drains. */
  #endCounts(): void {
    this.#context.afterDrain(endOf(this.#ownCounts, this.#extensions, this.#context.stats));
  }

  get #counts(): ListenerCounts {
    return (this.#ownCounts ??= this.#makeCounts());
  }

  #makeCounts(): ListenerCounts {
    const { stats, workerIndex } = this.#context;
    return new ListenerCounts(this.#current.resource.statName, stats, workerIndex);
  }

  /** Ends the connections of these chains. */
  closeChains(chains: ReadonlySet<CompiledChain>): void {
    this.#connections.closeChains(chains);
  }

  /** Chains with open connections. */
  openChains(): ReadonlySet<CompiledChain> {
    return this.#connections.chains();
  }

  /** The listener is gone: its last connection releases what it holds. */
  remove(): void {
    this.#endCounts();
    this.#retire(this.#current);
  }

  /** Whether any connection is open, or looked at by listener filters. */
  get isUsed(): boolean {
    return this.#connections.size > 0 || this.#waiting.size > 0;
  }

  /**
   * Whether a connection that was made since this moment has not been answered; monotonic
   * milliseconds.
   */
  hasUnanswered(sinceMs: number): boolean {
    return this.#waiting.size > 0 || this.#connections.hasUnanswered(sinceMs);
  }

  #retire(version: CompiledListener): void {
    const retired = new RetiredVersion(version.release, this.#context.stats);
    this.#retired.set(version, retired);
    this.#letGoOfUnused(version);
    this.#context.afterDrain(() => retired.drained());
  }

  /** How well an address is this listener's; undefined: it is not. */
  fitOf(ip: string, port: number): 'address' | 'port' | undefined {
    let fit: 'port' | undefined;
    for (const bound of this.#current.resource.addresses) {
      if (bound.kind !== 'ip' || bound.port !== port) continue;
      if (bound.address === ip) return 'address';
      if (fixedLocalAddress(bound) === undefined) fit = 'port';
    }
    return fit;
  }

  connectionCounts(): ListenerConnections {
    return { name: this.name, ...this.#connections.count() };
  }

  /** Ends connections that have had no stream for this long. */
  closeIdle(limitMs: number): void {
    this.#connections.closeIdleSince(this.#context.loop.clock.ms - limitMs);
  }

  /** Cuts every open connection. */
  closeConnections(): void {
    for (const waiting of this.#waiting.keys()) waiting.close();
    this.#connections.closeAll();
  }

  #onEnd(connection: ServedConnection, place: OpenConnection): void {
    const { version, counts } = place;
    const wasOpen = this.#connections.remove(place);
    if (wasOpen) {
      this.#limits.closed(version.resource);
      if (version.accessLogs.length > 0) this.#log(version.accessLogs, connection);
    }
    counts.closed(Math.round(this.#context.loop.clock.ms - connection.openedMs));
    if (wasOpen) this.#letGoOfUnused(version);
  }

  /** Takes connections without a socket. */
  get isInternal(): boolean {
    return this.#current.resource.isInternal === true && !this.#isStopped;
  }

  /** Takes a connection of a cluster of this worker. */
  acceptInside(socket: net.Socket, dynamicMetadata: ConnectionInfo['dynamicMetadata']): void {
    const version = this.#current;
    const { direction } = version.resource;
    const facts = { name: this.name, direction, filterChainName: '', localAddress: undefined };
    if (this.#isRefused(version.resource)) socket.destroy();
    else this.#receive(socket, { ...facts, dynamicMetadata }, undefined);
  }

  #accept(accepted: Accepted, bound: BoundAddress): void {
    const { loop } = this.#context;
    const version = this.#current;
    const listener = this.#factsOf(version, bound);
    loop.run({ onException: () => socketOf(accepted).destroy() }, () => {
      if (version.readsOriginal) this.#acceptRedirected(socketOf(accepted), listener);
      else if (this.#isRefused(version.resource)) socketOf(accepted).destroy();
      else this.#take(accepted, listener);
    });
  }

  #take(accepted: Accepted, listener: ListenerInfo): void {
    const version = this.#current;
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
    const { handsOffToOriginal } = this.#current.resource;
    const other =
      original === undefined || !handsOffToOriginal
        ? undefined
        : this.#context.listenerOf(original);
    const owner = other ?? this;
    if (owner.#isRefused(owner.#current.resource)) socket.destroy();
    else owner.#receive(socket, listener, original);
  }

  #log(logs: readonly AccessLog[], connection: ServedConnection): void {
    const info = connection.describe?.();
    if (info === undefined) return;
    info.endMs = this.#context.loop.clock.ms;
    for (const log of logs) log.log(info);
  }

  /** Takes a connection that this listener or another one accepted. */
  #receive(socket: net.Socket, listener: ListenerInfo, original: Address | undefined): void {
    const version = this.#current;
    const own = { ...listener, name: this.name, direction: version.resource.direction };
    const facts = new ConnectionFacts(socket, own);
    facts.overrideAddresses(undefined, original);
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
      this.#counts.refused('downstream_cx_overload_reject');
      return true;
    }
    const refusal = this.#limits.tryOpen(resource);
    if (refusal === undefined) return false;
    const isGlobal = refusal === 'global';
    this.#counts.refused(isGlobal ? 'downstream_global_cx_overflow' : 'downstream_cx_overflow');
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
    const counts = this.#counts;
    const { listenerFiltersTimeoutMs: timeoutMs, continuesAfterTimeout } = version.resource;
    counts.waits();
    const waiting = new PreConnection(socket, { loop, filters, timeoutMs }, (how) => {
      this.#waiting.delete(waiting);
      counts.decided(how);
      if (how === 'ready' || (how === 'timeout' && continuesAfterTimeout)) {
        facts.overrideAddresses(waiting.facts.remote, waiting.facts.local);
        facts.learn(waiting.facts);
        this.#choose(version, socket, facts, waiting.facts);
      } else {
        this.#limits.closed(version.resource);
        socket.destroy();
      }
      this.#letGoOfUnused(version);
    });
    this.#waiting.set(waiting, version);
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
      if (chain === undefined) this.#counts.refused('no_filter_chain_match');
      this.#limits.closed(version.resource);
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    facts.filterChainName = chain.resource.name;
    this.#serve(version, chain, (use) => openSocket(socket, facts, use));
  }

  #serve(version: CompiledListener, chain: CompiledChain, open: OpenTransport): void {
    const { server, tls, watch } = chain;
    if (server === undefined) return;
    const { loop } = this.#context;
    const counts = this.#counts;
    counts.opened();
    const place = new OpenConnection({ version, chain, counts }, this.#ended);
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
      this.#limits.closed(version.resource);
      throw error;
    }
    this.#connections.add(place, connection);
    try {
      connection.start?.();
    } catch (error) {
      loop.failed(error, { onException: () => connection.close() });
    }
  }

  #factsOf(version: CompiledListener, bound: BoundAddress): ListenerInfo {
    return {
      name: this.name,
      direction: version.resource.direction,
      filterChainName: '',
      localAddress: fixedLocalAddress(bound),
    };
  }

  #isUsed(version: CompiledListener): boolean {
    for (const each of this.#waiting.values()) if (each === version) return true;
    return this.#connections.uses(version);
  }

  /** Of a version that is not in force any more. */
  #letGoOfUnused(version: CompiledListener): void {
    const retired = this.#retired.get(version);
    if (retired === undefined || this.#isUsed(version)) return;
    this.#retired.delete(version);
    retired.unused();
  }
}

/** Holds nothing else of the listener. */
function endOf(
  counts: ListenerCounts | undefined,
  extensions: number,
  stats: WorkerStats,
): () => void {
  return () => {
    counts?.end();
    stats.releaseBlock(extensions);
  };
}

const PLAIN = { transportProtocol: 'raw_buffer', applicationProtocols: [] } as const;

type OpenTransport = (use: TransportUse) => OpenedConnection;
