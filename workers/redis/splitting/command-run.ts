/**
 * One command of a client on its way to hosts: what it comes to is answered and counted once. Those
 * that go to one host alone are here; the others split or gather.
 */
import { errorValue, type RespValue } from '../codec/resp-value.ts';
import type { KeyRoutes } from '../routes/key-routes.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { CommandCallbacks } from '../upstream/command-queue.ts';
import type { CommandHandle } from '../upstream/command-handle.ts';
import type { CommandCounter } from './command-counter.ts';

export const UPSTREAM_FAILURE = 'upstream failure';
export const UPSTREAM_PROTOCOL_ERROR = 'upstream protocol error';
export const NO_UPSTREAM_HOST = 'no upstream host';

/** Who waits for the answer. */
export interface Asker {
  answer(value: RespValue): void;
}

export interface RunParts {
  readonly asker: Asker;
  readonly counter: CommandCounter;
  readonly routes: KeyRoutes;
  readonly info: StreamInfo;
  /** Monotonic milliseconds; undefined: somebody else counts how long it took. */
  readonly startedMs: number | undefined;
}

/** The words of a command; keys may be rewritten in place. */
export type Words = string[];

export abstract class CommandRun implements CommandHandle {
  protected readonly parts: RunParts;

  constructor(parts: RunParts) {
    this.parts = parts;
  }

  abstract cancel(): void;

  protected finish(value: RespValue, isGood: boolean): void {
    const { asker, counter, startedMs } = this.parts;
    counter.finished(isGood, startedMs);
    asker.answer(value);
  }

  /** Without having gone anywhere: no time is counted. */
  protected refuse(text: string): void {
    refuse(this.parts, text);
  }
}

/** The same before there is a run. */
export function refuse({ asker, counter }: RunParts, text: string): void {
  counter.failed();
  asker.answer(errorValue(text));
}

export function wrongNumber(words: Words): string {
  return `wrong number of arguments for '${words[0] ?? ''}' command`;
}

/** A command that goes to the host of one key. */
export class SingleRun extends CommandRun implements CommandCallbacks {
  #handle: CommandHandle | undefined = undefined;

  /** `keyAt`: which word is the key. */
  start(words: Words, keyAt: number): void {
    const { routes, info } = this.parts;
    const key = words[keyAt];
    if (key === undefined) {
      this.refuse(wrongNumber(words));
      return;
    }
    const route = routes.find(key);
    const rewritten = route?.rewrite(key, info) ?? key;
    words[keyAt] = rewritten;
    this.#handle = route?.send(words[0] ?? '', rewritten, words, this);
    if (this.#handle === undefined) this.refuse(NO_UPSTREAM_HOST);
  }

  onAnswer(value: RespValue): void {
    this.finish(value, true);
  }

  onFailure(): void {
    this.finish(errorValue(UPSTREAM_FAILURE), false);
  }

  cancel(): void {
    this.#handle?.cancel();
  }
}
