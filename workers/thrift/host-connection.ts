/**
 * A connection to a host that takes one Thrift request at a time, and is kept for the next one when
 * its answer has come.
 */
import type { ThriftProtocol, ThriftTransport } from '../../shared/thrift/thrift-message.ts';
import { ThriftError } from '../../shared/thrift/thrift-reader.ts';
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { UpstreamEnd, UpstreamOwner } from '../tcp/proxied-upstream.ts';
import { TcpUpstream } from '../tcp/tcp-upstream.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import { type CutMessage, MessageStream } from './message-stream.ts';

/** Connections to one host that wait for requests. */
const IDLE_MAX = 100;
/** How long they wait, as in Envoy where a cluster says nothing else. */
const IDLE_TIMEOUT_MS = 600_000;

/** What waits for an answer. */
export interface HostUser {
  onReply(message: CutMessage): void;
  /** There will be no answer. */
  onHostFailure(end: UpstreamEnd | undefined): void;
}

/** How hosts are spoken to. */
export interface Wording {
  readonly transport: ThriftTransport;
  readonly protocol: ThriftProtocol;
}

export class HostConnections {
  readonly #loop: WorkerLoop;
  readonly #idle = new Map<UpstreamHost, HostConnection[]>();
  readonly #all = new Set<HostConnection>();

  constructor(loop: WorkerLoop) {
    this.#loop = loop;
  }

  /** One that waits, or a new one. */
  take(
    cluster: UpstreamCluster,
    host: UpstreamHost,
    wording: Wording,
    info: ConnectionInfo,
  ): HostConnection {
    const idle = this.#idle.get(host) ?? [];
    const index = idle.findIndex(({ wording: { transport, protocol } }) => {
      return transport === wording.transport && protocol === wording.protocol;
    });
    const [present] = index < 0 ? [] : idle.splice(index, 1);
    present?.idleTimer.disarm();
    if (present !== undefined) return present;
    const made = new HostConnection({ cluster, host, wording, info }, this);
    this.#all.add(made);
    made.start();
    return made;
  }

  keep(connection: HostConnection): void {
    const { host } = connection;
    const idle = this.#idle.get(host) ?? [];
    this.#idle.set(host, idle);
    if (idle.length >= IDLE_MAX) connection.close();
    else {
      idle.push(connection);
      this.#loop.timers.list(IDLE_TIMEOUT_MS).arm(connection.idleTimer);
    }
  }

  forget(connection: HostConnection): void {
    this.#all.delete(connection);
    const idle = this.#idle.get(connection.host);
    const index = idle?.indexOf(connection) ?? -1;
    if (index >= 0) idle?.splice(index, 1);
    if (idle?.length === 0) this.#idle.delete(connection.host);
  }

  close(): void {
    for (const connection of Array.from(this.#all)) connection.close();
  }
}

interface HostConnectionParts {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly wording: Wording;
  readonly info: ConnectionInfo;
}

export class HostConnection implements UpstreamOwner, TimerOwner {
  readonly host: UpstreamHost;
  readonly wording: Wording;
  readonly downstreamInfo: ConnectionInfo;
  readonly idleTimer = new LoopTimer(this, 0);
  readonly #owner: HostConnections;
  readonly #upstream: TcpUpstream;
  readonly #answers: MessageStream;
  #sequence = 0;
  /** What is written when the connection stands. */
  #early: Buffer | undefined = undefined;
  #user: HostUser | undefined = undefined;
  #end: UpstreamEnd | undefined = undefined;
  #isOver = false;
  #isReady = false;

  constructor({ cluster, host, wording, info }: HostConnectionParts, owner: HostConnections) {
    this.host = host;
    this.wording = wording;
    this.downstreamInfo = info;
    this.#owner = owner;
    this.#answers = new MessageStream(wording.transport, wording.protocol);
    this.#upstream = new TcpUpstream(cluster, host, this);
  }

  start(): void {
    this.#upstream.start();
  }

  /** `write` makes the request with the number that it has here. */
  send(user: HostUser, write: (sequence: number) => Buffer): void {
    if (this.#isOver) {
      user.onHostFailure(this.#end);
      return;
    }
    this.#user = user;
    const bytes = write(this.#sequence);
    this.#sequence = (this.#sequence + 1) | 0;
    if (this.#isReady) this.#upstream.writeData(bytes);
    else this.#early = bytes;
  }

  /** Nobody waits for an answer that does not come. */
  finishOneWay(): void {
    this.#user = undefined;
    if (this.#isReady) this.#owner.keep(this);
  }

  close(): void {
    if (this.#isOver) return;
    this.#over();
    this.#upstream.close();
  }

  onTimer(): void {
    this.close();
  }

  onException(): void {
    this.close();
  }

  onUpstreamReady(): void {
    this.#isReady = true;
    const early = this.#early;
    this.#early = undefined;
    if (early !== undefined) this.#upstream.writeData(early);
    if (this.#user === undefined && !this.#isOver) this.#owner.keep(this);
  }

  onUpstreamData(input: Buffer, start: number, end: number): void {
    this.#answers.add(input.subarray(start, end));
    try {
      for (
        let message = this.#answers.next();
        message !== undefined;
        message = this.#answers.next()
      ) {
        const user = this.#user;
        // What a host says unasked is nobody's answer.
        if (user === undefined) {
          this.close();
          return;
        }
        this.#user = undefined;
        if (this.#answers.waiting === 0) this.#owner.keep(this);
        else this.close();
        user.onReply(message);
        if (this.#isOver) return;
      }
    } catch (error) {
      if (!(error instanceof ThriftError || error instanceof RangeError)) throw error;
      const user = this.#user;
      this.close();
      user?.onHostFailure(undefined);
    }
  }

  onUpstreamHalfClose(): void {
    this.onUpstreamEnd({ kind: 'finished' });
    this.#upstream.close();
  }

  onUpstreamWriteBlocked(): void {
    // A request is whole; the next one waits for its answer.
  }

  onUpstreamEnd(end: UpstreamEnd): void {
    if (this.#isOver) return;
    const user = this.#user;
    this.#end = end;
    this.#over();
    user?.onHostFailure(end);
  }

  #over(): void {
    this.#isOver = true;
    this.idleTimer.disarm();
    this.#user = undefined;
    this.#owner.forget(this);
  }
}
