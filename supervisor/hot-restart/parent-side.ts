/**
 * What an epoch answers to the epoch after it. It holds the parent's socket and turns messages into
 * commands; what each command does is the server's business.
 */
import type { Clock } from '../../shared/process/clock.ts';
import { PosixError } from '../../shared/posix/posix-error.ts';
import type { UnixSocketAddress } from '../../shared/posix/socket-address.ts';
import { Endpoint } from './endpoint.ts';
import type { AdminHandOver } from './child-side.ts';
import type {
  HotRestartMessage,
  HotRestartReply,
  HotRestartRequest,
  ParentStats,
} from './hot-restart-message.ts';

/** An address and a number; a child of another kind may say more. */
const REQUEST_BYTES_MAX = 1024 * 1024;

export interface ParentCommands {
  /** Closes the admin listener, so that the child can open its own. */
  shutdownAdmin(): AdminHandOver;
  /** The socket of that worker for an address such as `tcp://127.0.0.1:80`; it stays ours, too. */
  listenSocket(address: string, workerIndex: number): number | undefined;
  /** Counter increments since the last call, gauges as they are. */
  exportStats(isSluice: boolean): Promise<ParentStats>;
  drainListeners(): void;
  terminate(): void;
}

export interface ParentSideOptions {
  readonly clock: Clock;
  readonly own: UnixSocketAddress;
  readonly child: UnixSocketAddress;
  readonly socketMode: number;
  /** Undefined while the server is not live: it has nothing to hand over then. */
  commands(): ParentCommands | undefined;
  malformed(reason: string): void;
  stranger(uid: number | undefined, pid: number | undefined): void;
  /** A reply could not be sent: the child is gone. */
  childGone(): void;
  /** A command failed; the child gets no answer and goes on without. */
  failed(error: unknown): void;
}

export class ParentSide {
  readonly #endpoint: Endpoint;
  readonly #options: ParentSideOptions;

  /** Binds the parent's socket; throws `PosixError` EADDRINUSE when the base id is taken. */
  constructor(options: ParentSideOptions) {
    this.#options = options;
    this.#endpoint = Endpoint.bind(options.own, {
      clock: options.clock,
      socketMode: options.socketMode,
      messageBytesMax: REQUEST_BYTES_MAX,
      peer: options.child,
      handlers: {
        message: (message) =>
          void this.#answer(message).catch((error: unknown) => options.failed(error)),
        malformed: (reason) => options.malformed(reason),
        stranger: (uid, pid) => options.stranger(uid, pid),
      },
    });
  }

  /** Tells a child of our own kind, unasked, what was counted since its last question. */
  sendLastStats(stats: ParentStats): Promise<void> {
    return this.#reply({ kind: 'stats', stats });
  }

  close(): void {
    this.#endpoint.close();
  }

  async #answer(message: HotRestartMessage): Promise<void> {
    if (message.kind === 'not_recognised') return;
    if (message.kind !== 'request') return this.#send({ kind: 'not_recognised' });
    const commands = this.#options.commands();
    if (commands !== undefined) return this.#obey(message.request, commands);
    const awaitsReply = !['drain_listeners', 'terminate'].includes(message.request.kind);
    if (awaitsReply) return this.#send({ kind: 'not_recognised' });
  }

  async #obey(request: HotRestartRequest, commands: ParentCommands): Promise<void> {
    switch (request.kind) {
      case 'shutdown_admin':
        return this.#reply({ kind: 'shutdown_admin', ...commands.shutdownAdmin() });
      case 'pass_listen_socket': {
        const socket = commands.listenSocket(request.address, request.workerIndex);
        const descriptors = socket === undefined ? [] : [socket];
        const hasSocket = socket !== undefined;
        return this.#reply({ kind: 'pass_listen_socket', hasSocket }, descriptors);
      }
      case 'stats':
        return this.#reply({ kind: 'stats', stats: await commands.exportStats(request.isSluice) });
      case 'drain_listeners':
        return commands.drainListeners();
      case 'terminate':
        return commands.terminate();
    }
  }

  #reply(reply: HotRestartReply, descriptors: readonly number[] = []): Promise<void> {
    return this.#send({ kind: 'reply', reply }, descriptors);
  }

  async #send(
    message: Exclude<HotRestartMessage, { kind: 'unknown' }>,
    descriptors: readonly number[] = [],
  ): Promise<void> {
    try {
      await this.#endpoint.send(this.#options.child, message, descriptors);
    } catch (error) {
      if (!(error instanceof PosixError)) throw error;
      this.#options.childGone();
    }
  }
}
