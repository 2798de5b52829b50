/**
 * Names with their addresses in a file, so that a server that starts knows them before a name
 * server answers. Entries are pairs of texts, each behind its length and a line feed; an address is
 * `address:port|ttl|when`. Reads once; writes the whole file at intervals, never blocking the loop.
 */
import { rename, writeFile } from 'node:fs/promises';
import { readTextIfThere } from '../../shared/text/read-text.ts';
import { parseAuthority, printAuthority } from '../../shared/addresses/authority.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { KeptNamesSettings } from '../resolved/resolved-bootstrap.ts';
import type { ResolvedName } from './name-resolver.ts';

export interface KeptName {
  /** `name:port`. */
  readonly host: string;
  readonly addresses: readonly ResolvedName[];
}

export class KeptNames {
  readonly #settings: KeptNamesSettings;
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #entries = new Map<string, string>();
  readonly #timer: Timer | undefined;
  #isChanged = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(settings: KeptNamesSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    const { flushMs } = settings;
    this.#timer = flushMs > 0 ? clock.every(flushMs, () => this.#flush()) : undefined;
  }

  /** What the file has, up to the first entry that cannot be read. A missing file has nothing. */
  load(): readonly KeptName[] {
    const kept: KeptName[] = [];
    for (const [host, value] of readPairs(readTextIfThere(this.#settings.path, 'latin1') ?? '')) {
      const addresses = value.split('\n').map(parseAddress);
      if (host === '' || !addresses.every((each) => each !== undefined)) break;
      this.#entries.set(host, value);
      kept.push({ host, addresses });
    }
    return kept;
  }

  put(host: string, port: number, addresses: readonly ResolvedName[]): void {
    const whenS = Math.floor(this.#clock.monotonicMs() / 1000);
    const lines = addresses.map(
      ({ address, ttlS }) => `${printAuthority({ host: address, port })}|${ttlS}|${whenS}`,
    );
    this.#entries.delete(host);
    this.#entries.set(host, lines.join('\n'));
    const { maxEntries } = this.#settings;
    const [oldest = ''] = this.#entries.keys();
    if (maxEntries > 0 && this.#entries.size > maxEntries) this.#entries.delete(oldest);
    this.#changed();
  }

  remove(host: string): void {
    if (this.#entries.delete(host)) this.#changed();
  }

  close(): void {
    this.#timer?.cancel();
    this.#flush();
  }

  #changed(): void {
    this.#isChanged = true;
    if (this.#timer === undefined) this.#flush();
  }

  /** A file that cannot be written is tried again with the next change. */
  #flush(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const { path } = this.#settings;
    const temporary = `${path}.${process.pid}`;
    const text = [...this.#entries].map(([host, value]) => printText(host) + printText(value));
    this.#writing = this.#writing.then(async () => {
      try {
        await writeFile(temporary, text.join(''), 'latin1');
        await rename(temporary, path);
      } catch {
        this.#isChanged = true;
      }
    });
  }
}

function printText(text: string): string {
  return `${text.length}\n${text}`;
}

function* readPairs(text: string): Generator<readonly [string, string]> {
  let at = 0;
  const next = (): string | undefined => {
    const end = text.indexOf('\n', at);
    const length = end < 0 ? Number.NaN : Number(text.slice(at, end));
    if (!Number.isInteger(length) || end + 1 + length > text.length) return undefined;
    at = end + 1 + length;
    return text.slice(end + 1, at);
  };
  for (;;) {
    const host = next();
    const value = host === undefined ? undefined : next();
    if (host === undefined || value === undefined) return;
    yield [host, value];
  }
}

function parseAddress(line: string): ResolvedName | undefined {
  const [authority = '', ttl = '', when] = line.split('|');
  const ttlS = Number(ttl);
  if (when === undefined || ttl === '' || !Number.isInteger(ttlS)) return undefined;
  return { address: parseAuthority(authority, 0).host, ttlS };
}
