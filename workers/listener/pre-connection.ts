/**
 * A connection while listener filters look at its first bytes. What was read and not consumed is
 * put back before the socket is handed on. Bounded by the filters' own limits and the listener's
 * timeout.
 */
import type net from 'node:net';
import type { ConnectionInfo } from '../net/connection-info.ts';
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { EarlyInfo, ListenerFilterRunner } from './listener-filter.ts';

export interface PreConnectionOptions {
  readonly loop: WorkerLoop;
  readonly filters: readonly ListenerFilterRunner[];
  /** What is known of the connection from its socket. */
  readonly connection: ConnectionInfo;
  /** 0: no limit. */
  readonly timeoutMs: number;
}

/** `left`: by the client; `failed`: its connection did; `closed`: by us. */
export type PreConnectionEnd = 'ready' | 'timeout' | 'refused' | 'left' | 'failed' | 'closed';

export class PreConnection implements TimerOwner {
  readonly facts: EarlyInfo = {
    serverName: '',
    transportProtocol: 'raw_buffer',
    applicationProtocols: [],
    remote: undefined,
    local: undefined,
    metadata: undefined,
    proxyTlvs: undefined,
    fingerprints: undefined,
  };
  readonly #socket: net.Socket;
  readonly #options: PreConnectionOptions;
  readonly #onEnd: (how: PreConnectionEnd) => void;
  readonly #timer = new LoopTimer(this, 0);
  #data: Buffer = Buffer.alloc(0);
  #position = 0;
  #isEnded = false;

  /**
   * `onEnd` is called once; after `ready` and `timeout` the socket holds all unread bytes again.
   */
  constructor(
    socket: net.Socket,
    options: PreConnectionOptions,
    onEnd: (how: PreConnectionEnd) => void,
  ) {
    this.#socket = socket;
    this.#options = options;
    this.#onEnd = onEnd;
    if (options.timeoutMs > 0) options.loop.timers.list(options.timeoutMs).arm(this.#timer);
    socket.on('data', this.#onData);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    socket.on('end', this.#onClose);
  }

  /** Asks the filters that need no bytes; what needs some waits for them. */
  start(): void {
    this.#run();
  }

  onException(): void {
    this.#end('closed');
  }

  onTimer(): void {
    this.#end('timeout');
  }

  /** Ends the wait from outside: the listener is gone. */
  close(): void {
    this.#end('closed');
  }

  readonly #onData = (piece: Buffer): void => {
    this.#options.loop.run(this, () => {
      this.#data = this.#data.length === 0 ? piece : Buffer.concat([this.#data, piece]);
      this.#run();
    });
  };

  readonly #onClose = (): void => {
    this.#options.loop.run(this, () => this.#end('left'));
  };

  readonly #onError = (): void => {
    this.#options.loop.run(this, () => this.#end('failed'));
  };

  #run(): void {
    const { filters, connection } = this.#options;
    for (; this.#position < filters.length; this.#position += 1) {
      const filter = filters[this.#position];
      if (filter?.inspect === undefined) {
        if (filter?.accept?.(connection) === false) return this.#end('closed');
        continue;
      }
      if (this.#data.length === 0) return;
      const verdict = filter.inspect(this.#data, this.facts);
      if (verdict === 'more') return;
      if (verdict === 'refuse') return this.#end('refused');
      if (typeof verdict === 'object') this.#data = this.#data.subarray(verdict.consumed);
    }
    this.#end('ready');
  }

  #end(how: PreConnectionEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#timer.disarm();
    const socket = this.#socket;
    socket.off('data', this.#onData);
    socket.off('end', this.#onClose);
    socket.off('close', this.#onClose);
    socket.off('error', this.#onError);
    if (how === 'ready' || how === 'timeout') {
      socket.pause();
      if (this.#data.length > 0) socket.unshift(this.#data);
    } else {
      // A late error of a socket that is gone interests nobody.
      socket.on('error', () => undefined);
      socket.destroy();
    }
    this.#onEnd(how);
  }
}
