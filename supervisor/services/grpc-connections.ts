/**
 * Connections of the server's own gRPC calls, loaded with their transport when the first is wanted.
 * Calls to one host share one for as long as it lives. What a call says is its owner's matter.
 */
import type { Socket } from 'node:net';
import type { ChannelCredentials, Client } from '@grpc/grpc-js';
import type { HostAddress } from '../../shared/resources/clusters/cluster.ts';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import { http2Module } from '../../shared/process/http2-memory.ts';
import type { PickedHost } from './control-plane-clusters.ts';
import { mergeFrames } from './merged-frames.ts';
import type { OwnConnection, OwnRequest, OwnRequestStats } from './own-request-stats.ts';
import { secureCredentials, type Grpc } from './secure-credentials.ts';
import { watchedCredentials } from './watched-credentials.ts';

/** One call's part of a connection. */
export interface GrpcLease {
  readonly grpc: Grpc;
  readonly client: Client;
  /** Counts the call; absent where no cluster is named. */
  readonly request: OwnRequest | undefined;
  /** The connection stands. */
  readonly isAlive: boolean;
  /** The call is over; `isLost`: the connection cannot be used any more. */
  release(isLost: boolean): void;
}

type Pick = (cluster: string) => PickedHost | undefined;

/** An answer larger than this ends the call. */
const MESSAGE_LIMIT_BYTES = 256 * 1024 * 1024;
/**
 * A connection whose peer broke the rules of HTTP/2 is not read any more by the runtime, which then
 * does not notice its end either: a ping tells. Servers take one in five minutes for too many.
 */
const PING_INTERVAL_MS = 330_000;
const PING_TIMEOUT_MS = 20_000;
/** Calls that one connection carries: a server takes so many by default. */
const CALLS_LIMIT = 100;

export class GrpcConnections {
  /** By what they lead to; the newest last. */
  readonly #open = new Map<string | GrpcTarget, Connection[]>();
  #isClosed = false;

  /** Rejects when there is nobody to connect to. `pick` gives a host of a cluster. */
  async lease(target: GrpcTarget, pick: Pick): Promise<GrpcLease> {
    http2Module();
    const grpc = await import('@grpc/grpc-js');
    await mergeFrames();
    if (target.kind === 'uri') {
      const { tls, uri, args } = target;
      const { roots = null, key = null, chain = null } = tls ?? {};
      const credentials =
        tls === undefined
          ? grpc.credentials.createInsecure()
          : grpc.credentials.createSsl(roots, key, chain);
      return this.#take(target, () => new Connection(grpc, { address: uri, credentials, args }));
    }
    const host = pick(target.cluster);
    if (host === undefined) throw new Error(`${target.cluster} has no host`);
    const { secure, stats } = host;
    const address = targetOf(host.address);
    const { authority, maxMessageBytes } = target;
    const key = JSON.stringify([target.cluster, address, authority, maxMessageBytes]);
    return this.#take(key, () => {
      const credentials =
        secure === undefined ? grpc.credentials.createInsecure() : secureCredentials(grpc, secure);
      return new Connection(grpc, { address, credentials, args: argsOf(target, host), stats });
    });
  }

  /** Ends all connections, and the calls on them. */
  close(): void {
    this.#isClosed = true;
    for (const connections of this.#open.values()) for (const each of connections) each.close();
    this.#open.clear();
  }

  #take(key: string | GrpcTarget, make: () => Connection): GrpcLease {
    const known = this.#open.get(key) ?? [];
    let connection = known.find(({ calls }) => calls < CALLS_LIMIT);
    if (connection === undefined) {
      connection = make();
      if (!this.#isClosed) this.#open.set(key, [...known, connection]);
    }
    return connection.lease(() => this.#drop(key, connection));
  }

  /** One that does not stand is not waited for: the next call begins another. */
  #drop(key: string | GrpcTarget, gone: Connection): void {
    const others = (this.#open.get(key) ?? []).filter((each) => each !== gone);
    if (others.length === 0) this.#open.delete(key);
    else this.#open.set(key, others);
  }
}

interface ConnectionOptions {
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly args: Readonly<Record<string, string | number>>;
  readonly stats?: OwnRequestStats;
}

class Connection {
  calls = 0;
  readonly #grpc: Grpc;
  readonly #client: Client;
  readonly #stats: OwnRequestStats | undefined;
  readonly #sockets = new Map<Socket, OwnConnection | undefined>();
  /** Calls that wait for it. */
  readonly #waiting = new Set<OwnRequest>();
  #begun: OwnConnection | undefined;

  constructor(grpc: Grpc, { address, credentials, args, stats }: ConnectionOptions) {
    this.#grpc = grpc;
    this.#stats = stats;
    const watched = watchedCredentials(grpc, credentials, {
      connecting: () => {
        this.#failed();
        this.#begun = stats?.connection('h2');
      },
      connected: (socket) => this.#connected(socket),
    });
    this.#client = new grpc.Client(address, watched, {
      'grpc.max_receive_message_length': MESSAGE_LIMIT_BYTES,
      'grpc.keepalive_time_ms': PING_INTERVAL_MS,
      'grpc.keepalive_timeout_ms': PING_TIMEOUT_MS,
      'grpc.enable_retries': 0,
      // What is shared is shared here.
      'grpc.use_local_subchannel_pool': 1,
      ...args,
    });
  }

  get isAlive(): boolean {
    return [...this.#sockets.keys()].some(({ destroyed }) => !destroyed);
  }

  lease(dropped: () => void): GrpcLease {
    this.calls += 1;
    const request = this.#stats?.request();
    if (request !== undefined && this.isAlive) request.sent();
    else if (request !== undefined) this.#waiting.add(request);
    const isAlive = (): boolean => this.isAlive;
    return {
      grpc: this.#grpc,
      client: this.#client,
      request,
      get isAlive() {
        return isAlive();
      },
      release: (isLost) => {
        if (isLost) this.#break();
        this.calls -= 1;
        if (request !== undefined) this.#waiting.delete(request);
        if (this.isAlive) return;
        this.#failed();
        dropped();
        if (this.calls === 0) this.#client.close();
      },
    };
  }

  close(): void {
    this.#client.close();
  }

  #connected(socket: Socket): void {
    this.#sockets.set(socket, this.#begun);
    socket.once('close', () => this.#sockets.delete(socket));
    this.#begun?.connected(socket, () => this.calls > 0);
    this.#begun = undefined;
    for (const request of this.#waiting) request.sent();
    this.#waiting.clear();
  }

  /** The next caller begins another one. */
  #break(): void {
    for (const counted of this.#sockets.values()) counted?.broken();
    this.#sockets.clear();
  }

  #failed(): void {
    this.#begun?.failed();
    this.#begun = undefined;
  }
}

function argsOf(
  { authority, maxMessageBytes = MESSAGE_LIMIT_BYTES }: GrpcTarget & { readonly kind: 'cluster' },
  { keepAlive }: PickedHost,
): Readonly<Record<string, string | number>> {
  return {
    'grpc.default_authority': authority,
    'grpc.max_receive_message_length': maxMessageBytes,
    ...(keepAlive === undefined
      ? {}
      : {
          'grpc.keepalive_time_ms': keepAlive.intervalMs,
          'grpc.keepalive_timeout_ms': keepAlive.timeoutMs,
        }),
  };
}

const INSIDE_WORKERS =
  'a host of the control plane is an internal listener, which only workers reach';

function targetOf(address: HostAddress): string {
  if (address.kind === 'pipe') return `unix:${address.path}`;
  if (address.kind === 'internal') throw new Error(INSIDE_WORKERS);
  return address.address.includes(':')
    ? `ipv6:[${address.address}]:${address.port}`
    : `ipv4:${address.address}:${address.port}`;
}
