/**
 * One command at the hosts of a cluster. Where the configuration says so it follows its host to
 * another one, which the answer names.
 */
import type { RespValue } from '../codec/resp-value.ts';
import type { CommandCallbacks } from './command-queue.ts';
import type { CommandHandle } from './command-handle.ts';
import type { RedisClient } from './redis-client.ts';

/** How often one command may be sent on: hosts that disagree send it round in circles. */
const REDIRECTIONS_MAX = 16;

/** Where a command goes that is sent on; undefined: nowhere. */
export type FindTarget = (address: string) => RedisClient | undefined;

export class PoolRequest implements CommandHandle, CommandCallbacks {
  readonly #words: readonly string[];
  readonly #callbacks: CommandCallbacks;
  readonly #find: FindTarget;
  #client: RedisClient;
  #handle: CommandHandle | undefined;
  #redirections = 0;

  constructor(
    client: RedisClient,
    words: readonly string[],
    callbacks: CommandCallbacks,
    find: FindTarget,
  ) {
    this.#words = words;
    this.#callbacks = callbacks;
    this.#find = find;
    this.#client = client;
    this.#handle = client.send(words, this);
  }

  cancel(): void {
    this.#handle?.cancel();
    this.#handle = undefined;
  }

  onFailure(): void {
    this.#callbacks.onFailure();
  }

  onAnswer(value: RespValue): void {
    if (value.isError) {
      const [kind, , address, more] = value.text.split(' ').filter((word) => word !== '');
      if (kind === 'CLUSTERDOWN') {
        this.#callbacks.onFailure();
        return;
      }
      const isRedirection = (kind === 'MOVED' || kind === 'ASK') && more === undefined;
      if (isRedirection && address !== undefined) {
        this.#follow(address, kind === 'ASK', value);
        return;
      }
    }
    this.#callbacks.onAnswer(value);
  }

  #follow(address: string, asks: boolean, value: RespValue): void {
    const last = this.#client;
    const client = ++this.#redirections > REDIRECTIONS_MAX ? undefined : this.#find(address);
    last.redirected(client !== undefined);
    if (client === undefined) {
      this.#callbacks.onAnswer(value);
      return;
    }
    if (asks) client.send(['asking'], undefined);
    this.#client = client;
    this.#handle = client.send(this.#words, this);
  }
}
