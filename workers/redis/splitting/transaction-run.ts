/** Commands of transactions, and those within one. */
import { array, errorValue, OK, type RespValue, simple } from '../codec/resp-value.ts';
import { isPossibleInTransaction } from '../commands.ts';
import type { Transaction } from '../session/transaction.ts';
import type { CommandCallbacks } from '../upstream/command-queue.ts';
import type { CommandHandle } from '../upstream/command-handle.ts';
import {
  CommandRun,
  NO_UPSTREAM_HOST,
  UPSTREAM_FAILURE,
  type Words,
  wrongNumber,
} from './command-run.ts';

export class TransactionRun extends CommandRun implements CommandCallbacks {
  readonly #transaction: Transaction;
  #handle: CommandHandle | undefined = undefined;

  constructor(parts: ConstructorParameters<typeof CommandRun>[0], transaction: Transaction) {
    super(parts);
    this.#transaction = transaction;
  }

  /** `name` is in lower case. */
  start(name: string, words: Words): void {
    if (!isPossibleInTransaction(name)) {
      this.#answer(errorValue(`'${words[0] ?? ''}' command is not supported within transaction`));
      return;
    }
    const answer = this.#answerHere(name);
    if (answer !== undefined) {
      this.#answer(answer);
      return;
    }
    this.#send(name, words);
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

  /** What needs no host: there is no key yet. */
  #answerHere(name: string): RespValue | undefined {
    const transaction = this.#transaction;
    const { isActive, key } = transaction;
    switch (name) {
      case 'multi':
        if (isActive) return errorValue('MULTI calls can not be nested');
        transaction.isActive = true;
        return key === undefined ? OK : undefined;
      case 'exec':
      case 'discard':
        if (!isActive) return errorValue(`${name.toUpperCase()} without MULTI`);
        if (key !== undefined) {
          transaction.isEnding = true;
          return undefined;
        }
        transaction.close();
        return name === 'exec' ? array([]) : OK;
      case 'unwatch':
        if (key !== undefined) return undefined;
        return isActive ? simple('QUEUED') : OK;
      default:
        return undefined;
    }
  }

  #send(name: string, words: Words): void {
    const transaction = this.#transaction;
    const key = words[1];
    if (transaction.key === undefined) {
      if (key === undefined) {
        this.refuse(wrongNumber(words));
        return;
      }
      this.#open(name, key);
    }
    // Nothing is left to keep of a connection that only watches.
    if (name === 'unwatch' && !transaction.isActive) transaction.isEnding = true;
    this.#handle = transaction.send(name, words, this);
    if (this.#handle === undefined) this.refuse(NO_UPSTREAM_HOST);
  }

  #open(name: string, key: string): void {
    const { routes, info } = this.parts;
    const route = routes.find(key);
    const opened = this.#transaction.open(name, route?.rewrite(key, info) ?? key, route);
    if (opened && this.#transaction.isActive) this.#transaction.send('multi', ['MULTI'], undefined);
  }

  /** Neither a success nor a failure. */
  #answer(value: RespValue): void {
    this.parts.asker.answer(value);
  }
}
