/**
 * One listener in this worker: its acceptors, its open connections and their accounting. A new
 * version of the listener's resource replaces the filter chain for new connections; open ones go on
 * with theirs.
 */
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type { AccessLog } from '../access-log/types.ts';
import type { ServedConnection } from '../stream/chain-server.ts';
import { fixedLocalAddress } from '../stream/connection-facts.ts';
import { Acceptor } from './acceptor.ts';
import { survivorsOf } from './chain-changes.ts';
import type { CompiledChain } from './chain-selector.ts';
import type { CompiledListener } from './compiled-listener.ts';
import { ConnectionIntake, type ServingListener } from './connection-intake.ts';
import type { ListenerLimits } from './connection-limits.ts';
import type { ListeningDescriptor } from './listener-commands.ts';
import type { ListenerContext } from './listener-context.ts';
import type { ListenerCounts } from './listener-counts.ts';
import { ListenerStats } from './listener-stats.ts';
import { type EndListener, type OpenConnection, OpenConnections } from './open-connections.ts';
import { RetiredVersion } from './retired-version.ts';

export class WorkerListener implements ServingListener {
  readonly name: string;
  readonly #context: ListenerContext;
  readonly limits: ListenerLimits;
  readonly connections = new OpenConnections();
  readonly ended: EndListener = (connection, place) => this.#onEnd(connection, place);
  readonly intake: ConnectionIntake;
  /** The version in force. */
  current: CompiledListener;
  readonly #stats: ListenerStats;
  readonly #acceptors = new Set<Acceptor>();
  /** Versions that were replaced or removed, while connections use them. */
  readonly #retired = new Map<CompiledListener, RetiredVersion>();
  #isStopped = false;

  constructor(compiled: CompiledListener, context: ListenerContext) {
    const { name, statName, isInternal } = compiled.resource;
    this.name = name;
    this.#context = context;
    this.limits = context.limits.ofListener(name);
    this.current = compiled;
    this.#stats = new ListenerStats(statName, context);
    this.intake = new ConnectionIntake(this, context);
    if (isInternal === true) this.#stats.expectConnections();
  }

  /** Rejects on the first descriptor that cannot be listened on. */
  async listen(descriptors: readonly ListeningDescriptor[]): Promise<void> {
    this.#stats.expectConnections();
    for (const descriptor of descriptors) {
      const acceptor = await Acceptor.listen(descriptor, (accepted) => {
        this.intake.accept(accepted, descriptor.address);
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
    const earlier = this.current;
    this.current = compiled;
    this.#stats.rename(compiled.resource.statName);
    const survives = survivorsOf(earlier.resource, compiled.resource);
    const gone = new Set<CompiledChain>();
    for (const chain of this.connections.chains()) {
      if (chain.drain.drain === undefined && !survives(chain.resource)) gone.add(chain);
    }
    this.#retire(earlier);
    return gone;
  }

  /** Ends the connections of these chains. */
  closeChains(chains: ReadonlySet<CompiledChain>): void {
    this.connections.closeChains(chains);
  }

  /** Chains with open connections. */
  openChains(): ReadonlySet<CompiledChain> {
    return this.connections.chains();
  }

  /** The listener is gone: its last connection releases what it holds. */
  remove(): void {
    this.#stats.end();
    this.#retire(this.current);
  }

  get counts(): ListenerCounts {
    return this.#stats.counts;
  }

  /** Whether any connection is open, or looked at by listener filters. */
  get isUsed(): boolean {
    return this.connections.size > 0 || this.intake.waiting > 0;
  }

  /**
   * Whether a connection that was made since this moment has not been answered; monotonic
   * milliseconds.
   */
  hasUnanswered(sinceMs: number): boolean {
    return this.intake.waiting > 0 || this.connections.hasUnanswered(sinceMs);
  }

  #retire(version: CompiledListener): void {
    const retired = new RetiredVersion(version.release, this.#context.stats);
    this.#retired.set(version, retired);
    this.letGoOfUnused(version);
    this.#context.afterDrain(() => retired.drained());
  }

  /** How well an address is this listener's; undefined: it is not. */
  fitOf(ip: string, port: number): 'address' | 'port' | undefined {
    let fit: 'port' | undefined;
    for (const bound of this.current.resource.addresses) {
      if (bound.kind !== 'ip' || bound.port !== port) continue;
      if (bound.address === ip) return 'address';
      if (fixedLocalAddress(bound) === undefined) fit = 'port';
    }
    return fit;
  }

  connectionCounts(): ListenerConnections {
    return { name: this.name, ...this.connections.count() };
  }

  /** Ends connections that have had no stream for this long. */
  closeIdle(limitMs: number): void {
    this.connections.closeIdleSince(this.#context.loop.clock.ms - limitMs);
  }

  /** Cuts every open connection. */
  closeConnections(): void {
    this.intake.closeWaiting();
    this.connections.closeAll();
  }

  #onEnd(connection: ServedConnection, place: OpenConnection): void {
    const { version, counts } = place;
    const wasOpen = this.connections.remove(place);
    if (wasOpen) {
      this.limits.closed(version.resource);
      if (version.accessLogs.length > 0) this.#log(version.accessLogs, connection);
    }
    counts.closed(Math.round(this.#context.loop.clock.ms - connection.openedMs));
    if (wasOpen) this.letGoOfUnused(version);
  }

  /** Takes connections without a socket. */
  get isInternal(): boolean {
    return this.current.resource.isInternal === true && !this.#isStopped;
  }

  #log(logs: readonly AccessLog[], connection: ServedConnection): void {
    const info = connection.describe?.();
    if (info === undefined) return;
    info.endMs = this.#context.loop.clock.ms;
    for (const log of logs) log.log(info);
  }

  #isUsed(version: CompiledListener): boolean {
    return this.intake.waitsFor(version) || this.connections.uses(version);
  }

  /** Lets go of a version that is not in force any more. */
  letGoOfUnused(version: CompiledListener): void {
    const retired = this.#retired.get(version);
    if (retired === undefined || this.#isUsed(version)) return;
    this.#retired.delete(version);
    retired.unused();
  }
}
