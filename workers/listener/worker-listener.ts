/**
 * One listener in this worker: its acceptors, its open connections and their accounting. A new version
 * of the listener's resource replaces the filter chain for new connections; open ones go on with theirs.
 */
import type { BoundAddress, ListenerResource } from '../../shared/resources/listener.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import {
  LISTENER,
  LISTENER_EXTENSIONS,
  LISTENER_WORKER,
} from '../../shared/stats/templates/listener.ts';
import type { ListeningDescriptor } from '../data-plane.ts';
import {
  type ConnectionObserver,
  DOWNSTREAM_RX_BUFFERED,
  DOWNSTREAM_RX_TOTAL,
  DOWNSTREAM_TX_TOTAL,
  HttpConnection,
} from '../http/conn-manager/connection.ts';
import type { ConnectionManager } from '../http/conn-manager/manager.ts';
import { Transport, type TransportHandler } from '../net/transport.ts';
import type { WorkerLoop } from '../worker-loop.ts';
import { type Accepted, Acceptor } from './acceptor.ts';
import { ConnectionFacts, fixedLocalAddress, type ListenerFacts } from './connection-facts.ts';

const CX_TOTAL = LISTENER.index.downstream_cx_total;
const CX_ACTIVE = LISTENER.index.downstream_cx_active;
const PRE_CX_ACTIVE = LISTENER.index.downstream_pre_cx_active;
const CX_DESTROY = LISTENER.index.downstream_cx_destroy;
const CX_LENGTH_MS = LISTENER.index.downstream_cx_length_ms;
const NO_FILTER_CHAIN_MATCH = LISTENER.index.no_filter_chain_match;
const ACCEPTED_PER_EVENT = LISTENER.index.connections_accepted_per_socket_event;
const WORKER_CX_TOTAL = LISTENER_WORKER.index.downstream_cx_total;
const WORKER_CX_ACTIVE = LISTENER_WORKER.index.downstream_cx_active;

/** A listener's resource, compiled. */
export interface CompiledListener {
  readonly resource: ListenerResource;
  /** Of the chain that takes connections; undefined when there is none. */
  readonly manager: ConnectionManager | undefined;
  readonly filterChainName: string;
  /** Called when the last connection of this version has ended and another version is in force. */
  readonly release: () => void;
}

export interface ListenerContext {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly workerIndex: number;
}

export class WorkerListener implements ConnectionObserver {
  readonly name: string;
  readonly #context: ListenerContext;
  readonly #base: number;
  readonly #workerBase: number;
  readonly #bases: readonly number[];
  #current: CompiledListener;
  readonly #acceptors = new Set<Acceptor>();
  /** Open connections with the version that they belong to. */
  readonly #connections = new Map<HttpConnection, CompiledListener>();
  #isRemoved = false;

  constructor(compiled: CompiledListener, context: ListenerContext) {
    const { name, statName } = compiled.resource;
    this.name = name;
    this.#context = context;
    this.#current = compiled;
    this.#base = context.stats.defineBlock(LISTENER, `listener.${statName}.`);
    this.#workerBase = context.stats.defineBlock(
      LISTENER_WORKER,
      `listener.${statName}.worker_${context.workerIndex}.`,
    );
    const extensions = context.stats.defineBlock(LISTENER_EXTENSIONS, `listener.${statName}.`);
    this.#bases = [this.#base, this.#workerBase, extensions];
  }

  /** Rejects on the first descriptor that cannot be listened on. */
  async listen(descriptors: readonly ListeningDescriptor[]): Promise<void> {
    for (const descriptor of descriptors) {
      const acceptor = await Acceptor.listen(descriptor, (accepted) => {
        this.#accept(accepted, descriptor.address);
      });
      this.#acceptors.add(acceptor);
    }
  }

  async stopListening(): Promise<void> {
    const closing = [...this.#acceptors].map((acceptor) => acceptor.close());
    this.#acceptors.clear();
    await Promise.all(closing);
  }

  /** Puts a new version into force. */
  replace(compiled: CompiledListener): void {
    const earlier = this.#current;
    this.#current = compiled;
    this.#releaseUnused(earlier);
  }

  /** The listener is gone: its last connection releases what it holds. */
  remove(): void {
    this.#isRemoved = true;
    this.#releaseUnused(this.#current);
  }

  /** Cuts every open connection. */
  closeConnections(): void {
    for (const connection of this.#connections.keys()) connection.close();
  }

  onConnectionEnd(connection: HttpConnection): void {
    const { stats, loop } = this.#context;
    const version = this.#connections.get(connection);
    this.#connections.delete(connection);
    stats.increment(this.#base + CX_DESTROY);
    stats.subtract(this.#base + CX_ACTIVE, 1);
    stats.subtract(this.#workerBase + WORKER_CX_ACTIVE, 1);
    stats.record(this.#base + CX_LENGTH_MS, Math.round(loop.clock.ms - connection.openedMs));
    if (version !== undefined) this.#releaseUnused(version);
  }

  #accept(accepted: Accepted, bound: BoundAddress): void {
    const { stats, loop } = this.#context;
    const version = this.#current;
    const { manager } = version;
    loop.enter();
    if (manager === undefined) {
      stats.increment(this.#base + NO_FILTER_CHAIN_MATCH);
      if (accepted.kind === 'handle') accepted.handle.close();
      else accepted.socket.destroy();
      return;
    }
    stats.increment(this.#base + CX_TOTAL);
    stats.add(this.#base + CX_ACTIVE, 1);
    // No listener filter holds a connection back, and the gauge counts as used from here on.
    stats.add(this.#base + PRE_CX_ACTIVE, 0);
    stats.increment(this.#workerBase + WORKER_CX_TOTAL);
    stats.add(this.#workerBase + WORKER_CX_ACTIVE, 1);
    stats.record(this.#base + ACCEPTED_PER_EVENT, 1);
    const facts: ListenerFacts = {
      name: this.name,
      direction: version.resource.direction,
      filterChainName: version.filterChainName,
      localAddress: fixedLocalAddress(bound),
    };
    const connection = new HttpConnection(manager, this, (handler) =>
      this.#open(accepted, handler, manager, facts),
    );
    this.#connections.set(connection, version);
    loop.leave();
  }

  #open(
    accepted: Accepted,
    handler: TransportHandler,
    manager: ConnectionManager,
    facts: ListenerFacts,
  ): { transport: Transport; info: ConnectionFacts } {
    const { loop } = this.#context;
    const { stats, bufferLimitBytes } = manager.parts;
    const counters = {
      stats: stats.writer,
      received: stats.base + DOWNSTREAM_RX_TOTAL,
      waiting: stats.base + DOWNSTREAM_RX_BUFFERED,
      sent: stats.base + DOWNSTREAM_TX_TOTAL,
    };
    const transport =
      accepted.kind === 'handle'
        ? Transport.open(
            loop,
            { socket: { handle: accepted.handle }, bufferLimitBytes },
            handler,
            counters,
          )
        : Transport.adopt(loop, accepted.socket, handler, counters);
    return { transport, info: new ConnectionFacts(transport.socket, facts) };
  }

  #releaseUnused(version: CompiledListener): void {
    const isCurrent = version === this.#current && !this.#isRemoved;
    if (isCurrent || [...this.#connections.values()].includes(version)) return;
    version.release();
    if (!this.#isRemoved || this.#connections.size > 0) return;
    for (const base of this.#bases) this.#context.stats.releaseBlock(base);
  }
}
