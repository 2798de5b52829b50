/**
 * Commands with several keys, which may be at several hosts: each key is a command of its own, and
 * their answers are put together.
 */
import {
  array,
  errorValue,
  integer,
  NOTHING,
  OK,
  RespKind,
  RespValue,
} from '../codec/resp-value.ts';
import type { CommandCallbacks } from '../upstream/command-queue.ts';
import type { CommandHandle } from '../upstream/command-handle.ts';
import {
  CommandRun,
  NO_UPSTREAM_HOST,
  UPSTREAM_FAILURE,
  UPSTREAM_PROTOCOL_ERROR,
  type Words,
} from './command-run.ts';

/** What the parts of a split command come to. */
export interface Gathering {
  /** The answer to the part of this number. */
  take(value: RespValue, at: number): void;
  /** When all are here. */
  result(): { readonly value: RespValue; readonly isGood: boolean };
}

abstract class Gathered extends CommandRun {
  readonly #gathering: Gathering;
  readonly #handles: (CommandHandle | undefined)[] = [];
  #left: number;
  /** Answers may come before all parts were sent. */
  #isOver = false;

  constructor(
    parts: ConstructorParameters<typeof CommandRun>[0],
    gathering: Gathering,
    count: number,
  ) {
    super(parts);
    this.#gathering = gathering;
    this.#left = count;
  }

  cancel(): void {
    this.#isOver = true;
    for (const handle of this.#handles) handle?.cancel();
  }

  /** `send` gives undefined where there is no host. */
  protected sendPart(
    at: number,
    send: (callbacks: CommandCallbacks) => CommandHandle | undefined,
  ): void {
    const handle = send({
      onAnswer: (value) => this.#take(value, at),
      onFailure: () => this.#take(errorValue(UPSTREAM_FAILURE), at),
    });
    this.#handles[at] = handle;
    if (handle === undefined) this.#take(errorValue(NO_UPSTREAM_HOST), at);
  }

  #take(value: RespValue, at: number): void {
    this.#gathering.take(value, at);
    if (--this.#left > 0 || this.#isOver) return;
    this.#isOver = true;
    const { value: whole, isGood } = this.#gathering.result();
    this.finish(whole, isGood);
  }
}

export class KeysRun extends Gathered {
  /**
   * One part for each key: the key, and as many words behind it as belong to it. `name` is the
   * parts' command.
   */
  start(name: string, words: Words, wordsPerKey: number): void {
    const { routes, info } = this.parts;
    for (let at = 1, part = 0; at < words.length; at += wordsPerKey, part++) {
      const key = words[at] ?? '';
      const route = routes.find(key);
      const rewritten = route?.rewrite(key, info) ?? key;
      const single = [name, rewritten, ...words.slice(at + 1, at + wordsPerKey)];
      this.sendPart(part, (callbacks) => route?.send(name, rewritten, single, callbacks));
    }
  }
}

/** The same command to several hosts. */
export class ShardsRun extends Gathered {
  start(sends: readonly ((callbacks: CommandCallbacks) => CommandHandle | undefined)[]): void {
    sends.forEach((send, at) => this.sendPart(at, send));
  }
}

/** What is stored under each key, in their order. */
export class ValuesGathering implements Gathering {
  readonly #values: RespValue[];
  #errors = 0;

  constructor(count: number) {
    this.#values = Array.from({ length: count }, () => NOTHING);
  }

  take(value: RespValue, at: number): void {
    const isValue = value.kind === RespKind.bulk || value.kind === RespKind.nothing;
    if (!isValue) this.#errors++;
    this.#values[at] = isValue || value.isError ? value : errorValue(UPSTREAM_PROTOCOL_ERROR);
  }

  result(): { readonly value: RespValue; readonly isGood: boolean } {
    return { value: array(this.#values), isGood: this.#errors === 0 };
  }
}

/** Whether all parts went well. */
export class OkGathering implements Gathering {
  #errors = 0;

  take(value: RespValue): void {
    if (value.kind !== RespKind.simple || value.text !== OK.text) this.#errors++;
  }

  result(): { readonly value: RespValue; readonly isGood: boolean } {
    return orErrors(this.#errors, OK);
  }
}

/** Parts count, and their sum is the answer. */
export class SumGathering implements Gathering {
  #errors = 0;
  #sum = 0n;

  take(value: RespValue): void {
    if (value.kind === RespKind.integer) this.#sum += BigInt(value.text);
    else this.#errors++;
  }

  result(): { readonly value: RespValue; readonly isGood: boolean } {
    return orErrors(this.#errors, integer(BigInt.asIntN(64, this.#sum)));
  }
}

/** What all parts list, one behind the other. */
export class ListGathering implements Gathering {
  readonly #lists: (readonly RespValue[])[] = [];
  #errors = 0;

  take(value: RespValue, at: number): void {
    if (value.kind === RespKind.array) this.#lists[at] = value.items;
    else this.#errors++;
  }

  result(): { readonly value: RespValue; readonly isGood: boolean } {
    return orErrors(this.#errors, new RespValue(RespKind.array, '', this.#lists.flat()));
  }
}

function orErrors(
  errors: number,
  value: RespValue,
): { readonly value: RespValue; readonly isGood: boolean } {
  if (errors === 0) return { value, isGood: true };
  return { value: errorValue(`finished with ${errors} error(s)`), isGood: false };
}

/** Answers as they come, of a command that goes to one host by number. */
export class SameGathering implements Gathering {
  #value: RespValue = NOTHING;

  take(value: RespValue): void {
    this.#value = value;
  }

  result(): { readonly value: RespValue; readonly isGood: boolean } {
    return { value: this.#value, isGood: !this.#value.isError };
  }
}
