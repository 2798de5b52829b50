/**
 * Which cluster a key is in, what becomes of the key on the way, and where copies of commands go.
 * The longest prefix counts.
 */
import type {
  RedisMirror,
  RedisRoute,
  RedisRoutes,
} from '../../../shared/resources/filters/network/redis-proxy.ts';
import { asciiLower } from '../../../shared/text/ascii.ts';
import { isEnabled, type Runtime } from '../../loop/runtime.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { compileTextFormat, type Formatter } from '../../substitution/compile-format.ts';
import { isRead } from '../commands.ts';
import type { CommandCallbacks } from '../upstream/command-queue.ts';
import type { CommandHandle } from '../upstream/command-handle.ts';
import type { RedisPool } from '../upstream/redis-pool.ts';

/** Stands for the key while a format is made, since a key may look like a command of one. */
const KEY_COMMAND = '%KEY%';
const KEY_PLACE = '~REPLACED_KEY~';

export class KeyRoute {
  readonly #config: RedisRoute;
  readonly #pool: RedisPool;
  readonly #readPool: RedisPool | undefined;
  readonly mirrors: readonly KeyMirror[];
  readonly #formatKey: Formatter | undefined;

  constructor(config: RedisRoute, poolOf: (cluster: string) => RedisPool, runtime: Runtime) {
    const { readCluster, keyFormat, mirrors } = config;
    this.#config = config;
    this.#pool = poolOf(config.cluster);
    this.#readPool = readCluster === undefined ? undefined : poolOf(readCluster);
    this.mirrors = mirrors.map((mirror) => new KeyMirror(mirror, poolOf(mirror.cluster), runtime));
    this.#formatKey =
      keyFormat === undefined
        ? undefined
        : compileTextFormat(keyFormat.replaceAll(KEY_COMMAND, KEY_PLACE), {
            omitEmptyValues: true,
          });
  }

  /** Where commands of this name go. */
  poolFor(name: string): RedisPool {
    return this.#readPool !== undefined && isRead(name) ? this.#readPool : this.#pool;
  }

  /** The key as the host knows it. */
  rewrite(key: string, info: StreamInfo): string {
    const { removesPrefix, prefix } = this.#config;
    const shorter = removesPrefix ? key.slice(prefix.length) : key;
    if (this.#formatKey === undefined) return shorter;
    const formatted = this.#formatKey(info).replaceAll(KEY_PLACE, () => shorter);
    return formatted === '' ? shorter : formatted;
  }

  /** To the host of the key, with copies; undefined: there is none. */
  send(
    name: string,
    key: string,
    words: readonly string[],
    callbacks: CommandCallbacks,
  ): CommandHandle | undefined {
    const handle = this.poolFor(name).send(key, words, callbacks);
    if (handle === undefined) return undefined;
    for (const mirror of this.mirrors) {
      if (mirror.takes(name)) mirror.pool.mirror(key, words);
    }
    return handle;
  }
}

export class KeyMirror {
  readonly pool: RedisPool;
  readonly #config: RedisMirror;
  readonly #runtime: Runtime;

  constructor(config: RedisMirror, pool: RedisPool, runtime: Runtime) {
    this.#config = config;
    this.pool = pool;
    this.#runtime = runtime;
  }

  takes(name: string): boolean {
    const { excludesReads, fraction } = this.#config;
    if (excludesReads && isRead(name)) return false;
    return fraction === undefined || isEnabled(fraction, this.#runtime, this.#runtime.random());
  }
}

export class KeyRoutes {
  /** By prefix, in lower case where case does not count. */
  readonly #byPrefix = new Map<string, KeyRoute>();
  /** The lengths of prefixes, each once, from the longest. */
  readonly #lengths: readonly number[];
  readonly #catchAll: KeyRoute | undefined;
  readonly #ignoresCase: boolean;

  constructor(config: RedisRoutes, poolOf: (cluster: string) => RedisPool, runtime: Runtime) {
    const { byPrefix, catchAll, ignoresCase } = config;
    this.#ignoresCase = ignoresCase;
    this.#catchAll = catchAll && new KeyRoute(catchAll, poolOf, runtime);
    for (const route of byPrefix) {
      this.#byPrefix.set(this.#normal(route.prefix), new KeyRoute(route, poolOf, runtime));
    }
    const lengths = new Set(Array.from(this.#byPrefix.keys(), ({ length }) => length));
    this.#lengths = Array.from(lengths).sort((left, right) => right - left);
  }

  find(key: string): KeyRoute | undefined {
    if (this.#lengths.length === 0) return this.#catchAll;
    const text = this.#normal(key);
    for (const length of this.#lengths) {
      if (length > text.length) continue;
      const route = this.#byPrefix.get(text.slice(0, length));
      if (route !== undefined) return route;
    }
    return this.#catchAll;
  }

  #normal(text: string): string {
    return this.#ignoresCase ? asciiLower(text) : text;
  }
}
