/** The secrets of this worker by their keys, and who has to know when one of them is another. */
import type { TlsSecret } from '../../shared/resources/tls.ts';

export class SecretStore {
  readonly #secrets = new Map<string, TlsSecret>();
  readonly #followers = new Map<string, Set<() => void>>();

  get(key: string): TlsSecret | undefined {
    return this.#secrets.get(key);
  }

  /** Tells those who follow it. */
  put(key: string, secret: TlsSecret): void {
    this.#secrets.set(key, secret);
    for (const changed of this.#followers.get(key) ?? []) changed();
  }

  /** Its users still go on with what they made of it. */
  remove(key: string): void {
    this.#secrets.delete(key);
  }

  /** Calls `changed` after each change of one of these; the result ends that. */
  follow(keys: readonly string[], changed: () => void): () => void {
    for (const key of keys) {
      const followers = this.#followers.get(key) ?? new Set();
      this.#followers.set(key, followers.add(changed));
    }
    return () => {
      for (const key of keys) {
        const followers = this.#followers.get(key);
        followers?.delete(changed);
        if (followers?.size === 0) this.#followers.delete(key);
      }
    };
  }
}
