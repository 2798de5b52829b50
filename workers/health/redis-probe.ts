/**
 * Asks a host as a client of Redis: whether it answers PING with PONG, or whether it does not have
 * a key. The first line of an answer decides; what follows of it is passed over. Source:
 * envoy.extensions.health_checkers.redis.v3.Redis.
 */
import type { Socket } from 'node:net';
import type { RedisProbe as RedisProbeResource } from '../../shared/resources/clusters/health-check.ts';
import type { Probe, ProbeOutcome, ProbeTarget } from './probe.ts';
import type { CheckStats } from './check-target.ts';

/** What an answer may bring before the end of its first line. */
const LINE_BYTES_MAX = 64 * 1024;

interface RedisProbeParts {
  readonly target: ProbeTarget;
  readonly reuse: boolean;
  readonly figures: CheckStats | undefined;
  /** The host has the key that it must not have. */
  readonly keyFound: () => void;
}

export class RedisProbe implements Probe {
  readonly #parts: RedisProbeParts;
  readonly #command: string;
  readonly #wanted: string;
  readonly #looksForKey: boolean;
  #socket: Socket | undefined;
  #received = '';
  #done: ((outcome: ProbeOutcome) => void) | undefined;

  constructor({ key }: RedisProbeResource, parts: RedisProbeParts) {
    this.#parts = parts;
    this.#looksForKey = key !== undefined;
    this.#command = key === undefined ? commandOf('PING') : commandOf('EXISTS', key);
    this.#wanted = key === undefined ? '+PONG' : ':0';
  }

  run(done: (outcome: ProbeOutcome) => void): void {
    this.#done = done;
    this.#received = '';
    if (this.#socket === undefined) this.#open();
    else this.#socket.write(this.#command);
    this.#parts.figures?.asked();
  }

  cancel(): void {
    this.#done = undefined;
    this.#parts.figures?.cancelled();
    this.#close('local');
  }

  #open(): void {
    const { target, figures } = this.#parts;
    const socket = target.open();
    this.#socket = socket;
    figures?.opened();
    socket.on(target.readyEvent, () => {
      figures?.connected();
      socket.write(this.#command);
    });
    socket.on('data', (data: Buffer) => this.#take(data));
    socket.on('error', () => this.#gone(socket));
    socket.on('close', () => this.#gone(socket));
  }

  #take(data: Buffer): void {
    if (this.#done === undefined) return;
    this.#received += data.toString('latin1');
    const end = this.#received.indexOf('\r\n');
    if (end < 0 && this.#received.length < LINE_BYTES_MAX) return;
    this.#parts.figures?.answered();
    if (!this.#parts.reuse) this.#close('local');
    if (this.#received.slice(0, end) === this.#wanted) {
      this.#finish({ kind: 'passed', isDegraded: false });
      return;
    }
    if (this.#looksForKey) this.#parts.keyFound();
    this.#finish({ kind: 'failed', isRetriable: false, isImmediate: false, status: 0 });
  }

  /** One that was kept for the next check says nothing by its end. */
  #gone(socket: Socket): void {
    if (socket !== this.#socket) return;
    this.#close('remote');
    if (this.#done !== undefined) this.#finish({ kind: 'unreachable', isTimeout: false });
  }

  #finish(outcome: ProbeOutcome): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(outcome);
  }

  #close(how: 'local' | 'remote'): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#socket = undefined;
    this.#parts.figures?.closed(how);
    socket.destroy();
  }
}

/** An array of bulk strings, as clients send commands. */
function commandOf(...words: readonly string[]): string {
  const bulk = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${bulk.join('')}`;
}
