/**
 * What an HTTP/2 connection reads: the preface, then frames, in portions. What one read brings is
 * one turn for the rules of the connection, however many turns of the loop it takes, so that
 * portions change nothing of what a peer sees or is judged by.
 */
import { LateInput } from '../../net/late-input.ts';
import type { Wire } from '../../net/wire.ts';
import { FrameReader, type FrameReceiver, Preface } from '../frame-reader.ts';
import { CLIENT_PREFACE, DEFAULT_MAX_FRAME_BYTES } from '../frames.ts';
import type { ReadTurn } from './read-turn.ts';

/** Whose frames are read; implemented by the session. */
export interface InputReceiver extends FrameReceiver {
  readonly options: { readonly isServer: boolean };
  readonly turn: ReadTurn;
  onPreface(): void;
  onBadPreface(): void;
}

export class SessionInput {
  readonly #wire: Wire;
  readonly #receiver: InputReceiver;
  readonly #preface: Preface;
  readonly #reader: FrameReader;
  /** Absent until a read is more than a portion. */
  #late: LateInput | undefined = undefined;

  constructor(wire: Wire, receiver: InputReceiver) {
    this.#wire = wire;
    this.#receiver = receiver;
    this.#preface = new Preface(receiver.options.isServer ? CLIENT_PREFACE : '');
    this.#reader = new FrameReader(receiver, DEFAULT_MAX_FRAME_BYTES);
  }

  onData(input: Buffer, start: number, end: number): void {
    if (this.#late?.isWaiting === true) {
      this.#late.add(input, start, end);
      return;
    }
    const at = this.#preface.read(input, start, end);
    if (at === undefined) return this.#receiver.onBadPreface();
    this.#receiver.onPreface();
    if (!this.#preface.isWhole) return;
    this.#receiver.turn.begin();
    const next = this.#readPortion(input, at, end);
    if (next === undefined) return;
    this.#late ??= new LateInput(this.#wire, (...rest) => this.#readPortion(...rest));
    this.#late.add(input, next, end);
  }

  /** Nothing more is read. */
  stop(): void {
    this.#reader.stop();
    this.#late?.drop();
  }

  /** Ends the turn when nothing is left of what was read. */
  #readPortion(input: Buffer, start: number, end: number): number | undefined {
    let next: number | undefined = undefined;
    try {
      next = this.#reader.readPortion(input, start, end);
    } finally {
      if (next === undefined) this.#receiver.turn.end();
    }
    return next;
  }
}
