/**
 * A client's transaction: from WATCH or MULTI to the answer of EXEC or DISCARD. Its commands go
 * over connections of their own, one to the host of its first key and one to each mirror, since what
 * a host queues belongs to a connection.
 */
import type { KeyRoute } from '../routes/key-routes.ts';
import type { CommandCallbacks } from '../upstream/command-queue.ts';
import type { CommandHandle } from '../upstream/command-handle.ts';
import type { RedisClient } from '../upstream/redis-client.ts';

export class Transaction {
  /** After MULTI. */
  isActive = false;
  /** It ends with the answers to what was sent. */
  isEnding = false;
  /** The key of the first command; undefined: none has gone out. */
  key: string | undefined = undefined;
  #route: KeyRoute | undefined = undefined;
  #main: RedisClient | undefined = undefined;
  #mirrors: (RedisClient | undefined)[] = [];

  /** False: there is no host for it. */
  open(name: string, key: string, route: KeyRoute | undefined): boolean {
    this.key = key;
    this.#route = route;
    if (route === undefined) return false;
    const left = (client: RedisClient): void => this.#lost(client);
    this.#main = route.poolFor(name).openOwn(key, left);
    this.#mirrors = route.mirrors.map(({ pool }) => pool.openOwn(key, left));
    return this.#main !== undefined;
  }

  /** Undefined: there is no connection. */
  send(
    name: string,
    words: readonly string[],
    callbacks: CommandCallbacks | undefined,
  ): CommandHandle | undefined {
    if (this.#main === undefined) return undefined;
    const handle = this.#main.send(words, callbacks);
    this.#route?.mirrors.forEach((mirror, at) => {
      if (mirror.takes(name)) this.#mirrors[at]?.send(words, undefined);
    });
    return handle;
  }

  close(): void {
    const clients = [this.#main, ...this.#mirrors];
    this.isActive = false;
    this.isEnding = false;
    this.key = undefined;
    this.#route = undefined;
    this.#main = undefined;
    this.#mirrors = [];
    for (const client of clients) client?.close();
  }

  /** What the host had queued is lost with its connection. */
  #lost(client: RedisClient): void {
    this.#mirrors = this.#mirrors.map((mirror) => (mirror === client ? undefined : mirror));
    if (client !== this.#main) return;
    this.#main = undefined;
    this.isEnding = true;
  }
}
