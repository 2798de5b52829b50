/**
 * The hosts file: read first, and again when it has changed. It is looked at no more often than
 * names are resolved, and never blocks.
 */
import { readFile, stat } from 'node:fs/promises';
import { isIP } from '../../shared/addresses/ip-text.ts';

/** More is no hosts file; the rest is ignored. */
const BYTES_MAX = 4 * 1024 * 1024;

export class HostsFile {
  readonly #path: string;
  #seen = '';
  #looking: Promise<void> | undefined;
  #addresses: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(path: string) {
    this.#path = path;
  }

  /** Addresses of a name in the order of the file; empty for a name that it has not. */
  async lookUp(name: string): Promise<readonly string[]> {
    await (this.#looking ??= this.#refresh());
    return this.#addresses.get(name.toLowerCase()) ?? [];
  }

  /** A file that cannot be read has no names. One look is for all who ask in the meantime. */
  async #refresh(): Promise<void> {
    try {
      const { mtimeMs, ino, size } = await stat(this.#path);
      const seen = `${mtimeMs}:${ino}:${size}`;
      if (seen === this.#seen) return;
      const text = await readFile(this.#path, 'latin1');
      this.#addresses = parseHosts(text.slice(0, BYTES_MAX));
      this.#seen = seen;
    } catch {
      this.#seen = '';
      this.#addresses = new Map();
    } finally {
      this.#looking = undefined;
    }
  }
}

/** Names in lower case. Lines that do not begin with an address are skipped. */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const addresses = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = addresses.get(key);
      if (known === undefined) addresses.set(key, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return addresses;
}
