/**
 * Names that requests asked for, each with the address that it has now: looked up when first
 * wanted, again while it is used, forgotten when it was not for a while. One per configured name of
 * a cache; several clusters may read it. It knows no workers.
 */
import { isIP } from '../../shared/addresses/ip-text.ts';
import { parseAuthority } from '../../shared/addresses/authority.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { DNS_CACHE, DNS_CACHE_BREAKER } from '../../shared/stats/templates/cluster-features.ts';
import type { DnsCacheSettings } from '../resolved/resolved-bootstrap.ts';
import { failureBackOffMs } from './failure-back-off.ts';
import { type KeptName, KeptNames } from './kept-names.ts';
import type { NameResolver, Resolution, ResolvedName } from './name-resolver.ts';
import { scopePrefix } from '../../shared/stats/stat-scope.ts';
import {
  type DnsCacheReader,
  type Answer,
  type Done,
  type Entry,
  addressCheck,
  answerOf,
  tell,
} from './dns-cache-entry.ts';

export interface DnsCacheOptions {
  readonly settings: DnsCacheSettings;
  readonly resolver: NameResolver;
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly writer: StatWriter;
}
/** The words of log lines about names without an address. */
const TIMED_OUT = 'resolve_timeout';

export class DnsCache {
  readonly #options: DnsCacheOptions;
  readonly #stats: number;
  readonly #breaker: number;
  readonly #entries = new Map<string, Entry>();
  readonly #readers = new Set<DnsCacheReader>();
  readonly #isDenied: (address: string) => boolean;
  readonly #kept: KeptNames | undefined;
  #pending = 0;
  #isClosed = false;

  constructor(options: DnsCacheOptions) {
    const { settings, writer } = options;
    this.#options = options;
    const scope = scopePrefix(`dns_cache.${settings.name}`);
    this.#stats = writer.defineBlock(DNS_CACHE, scope);
    this.#breaker = writer.defineBlock(DNS_CACHE_BREAKER, `${scope}circuit_breakers.`);
    this.#isDenied = addressCheck(settings.addressFilter);
    this.#addPending(0);
    const { kept } = settings;
    this.#kept = kept && new KeptNames(kept, options.clock);
    for (const each of this.#kept?.load() ?? []) this.#addKept(each);
    for (const { host, port } of settings.preresolved) {
      if (!this.#entries.has(host)) this.#add(host, parseAuthority(host, port));
    }
  }

  get settings(): DnsCacheSettings {
    return this.#options.settings;
  }

  /** Tells the reader of all names that have an address, now and later. */
  addReader(reader: DnsCacheReader): void {
    this.#readers.add(reader);
    for (const entry of this.#entries.values()) tell(reader, entry);
  }

  /** The cache ends with its last reader; true when that was it. */
  removeReader(reader: DnsCacheReader): boolean {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return false;
    this.#close();
    return true;
  }

  /** `done` is called once, maybe at once. `host` is `name:port`. */
  load(host: string, done: Done): void {
    const { maxHosts, maxPending } = this.#options.settings;
    const known = this.#entries.get(host);
    if (known?.isResolved === true) {
      done(answerOf(known));
      return;
    }
    if (this.#pending >= maxPending) {
      this.#count('dns_rq_pending_overflow');
      done({ outcome: 'pending_overflow', details: '' });
      return;
    }
    if (known === undefined && this.#entries.size >= maxHosts) {
      this.#count('host_overflow');
      done({ outcome: 'cache_overflow', details: '' });
      return;
    }
    this.#addPending(1);
    if (known === undefined) this.#add(host, parseAuthority(host, 0), done);
    else known.waiting.push(done);
  }

  /** The host is in use. */
  touch(host: string): void {
    const entry = this.#entries.get(host);
    if (entry !== undefined) entry.lastUsedMs = this.#options.clock.monotonicMs();
  }

  #close(): void {
    const { writer } = this.#options;
    this.#isClosed = true;
    for (const entry of this.#entries.values()) {
      entry.timer?.cancel();
      this.#answerWaiting(entry, { outcome: 'failed', details: '' });
    }
    this.#entries.clear();
    this.#kept?.close();
    writer.releaseBlock(this.#stats);
    writer.releaseBlock(this.#breaker);
  }

  #add(host: string, address: { host: string; port: number }, done?: Done): void {
    const entry = this.#newEntry(host, address);
    if (done !== undefined) entry.waiting.push(done);
    this.#lookUp(entry);
  }

  /** Is as good as answered until its time to live is over. */
  #addKept({ host, addresses }: KeptName): void {
    const entry = this.#newEntry(host, parseAuthority(host, 0));
    this.#count('cache_load');
    this.#take(entry, addresses);
    entry.isResolved = true;
    const resolution = { outcome: 'found', addresses } as const;
    const waitMs = this.#waitMs(entry, resolution);
    entry.timer = this.#options.clock.after(waitMs, () => this.#refresh(entry));
  }

  #newEntry(host: string, { host: name, port }: { host: string; port: number }): Entry {
    const entry: Entry = {
      host,
      name,
      port,
      addresses: [],
      failure: undefined,
      isResolved: false,
      lastUsedMs: this.#options.clock.monotonicMs(),
      failuresInARow: 0,
      timer: undefined,
      lookup: 0,
      waiting: [],
    };
    this.#entries.set(host, entry);
    this.#count('host_added');
    this.#showHosts();
    return entry;
  }

  #lookUp(entry: Entry): void {
    const { settings, resolver, clock } = this.#options;
    const lookup = ++entry.lookup;
    const isCurrent = (): boolean =>
      !this.#isClosed && entry.lookup === lookup && this.#entries.get(entry.host) === entry;
    this.#count('dns_query_attempt');
    const timeOut = (): void => {
      if (!isCurrent()) return;
      entry.lookup++;
      this.#count('dns_query_timeout');
      this.#answered(entry, { outcome: 'failed', details: TIMED_OUT });
    };
    if (settings.queryTimeoutMs > 0) entry.timer = clock.after(settings.queryTimeoutMs, timeOut);
    void resolver.resolve(entry.name, settings.dns.family).then((resolution) => {
      if (isCurrent()) this.#answered(entry, this.#withoutDenied(resolution));
    });
  }

  #withoutDenied(resolution: Resolution): Resolution {
    if (resolution.outcome !== 'found') return resolution;
    const addresses = resolution.addresses.filter(({ address }) => !this.#isDenied(address));
    for (let left = addresses.length; left < resolution.addresses.length; left++) {
      this.#count('dns_address_filter_out');
    }
    if (addresses.length === 0) return { outcome: 'empty', details: 'address_denied' };
    return { outcome: 'found', addresses };
  }

  #answered(entry: Entry, resolution: Resolution): void {
    const { settings, clock } = this.#options;
    entry.timer?.cancel();
    const isSuccess = resolution.outcome !== 'failed';
    this.#count(isSuccess ? 'dns_query_success' : 'dns_query_failure');
    if (resolution.outcome === 'found') {
      this.#take(entry, resolution.addresses);
      this.#kept?.put(entry.host, entry.port, resolution.addresses);
    } else if (entry.addresses.length === 0) {
      entry.failure = resolution.details ?? '';
    }
    entry.isResolved = true;
    entry.failuresInARow = isSuccess ? 0 : entry.failuresInARow + 1;
    const answer = answerOf(entry);
    if (!isSuccess && settings.noRefreshAfterFailure && entry.addresses.length === 0) {
      this.#remove(entry);
    } else {
      entry.timer = clock.after(this.#waitMs(entry, resolution), () => this.#refresh(entry));
    }
    this.#answerWaiting(entry, answer);
  }

  /** Once there is an address it stays until another one is found. */
  #take(entry: Entry, found: readonly ResolvedName[]): void {
    const addresses = found.map(({ address }) => address);
    if (addresses.join(' ') === entry.addresses.join(' ')) return;
    entry.addresses = addresses;
    entry.failure = undefined;
    this.#count('host_address_changed');
    for (const reader of this.#readers) tell(reader, entry);
  }

  #refresh(entry: Entry): void {
    const { settings, clock } = this.#options;
    // A host may have been used since it was last told of.
    const unusedMs = clock.monotonicMs() - entry.lastUsedMs - settings.touchIntervalMs;
    if (unusedMs > settings.hostTtlMs) this.#remove(entry);
    else this.#lookUp(entry);
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.host);
    this.#kept?.remove(entry.host);
    this.#count('host_removed');
    this.#showHosts();
    if (entry.addresses.length === 0) return;
    for (const reader of this.#readers) reader.removed(entry.host);
  }

  #waitMs(entry: Entry, resolution: Resolution): number {
    const { settings, random } = this.#options;
    const { refreshMs, minRefreshMs, failure } = settings.dns;
    if (resolution.outcome === 'failed') {
      return failure === undefined
        ? refreshMs
        : failureBackOffMs(failure, entry.failuresInARow, random);
    }
    if (resolution.outcome !== 'found' || isIP(entry.name) !== 0) return refreshMs;
    const ttlS = Math.min(...resolution.addresses.map((each) => each.ttlS));
    return Math.max(ttlS * 1000, minRefreshMs);
  }

  #answerWaiting(entry: Entry, answer: Answer): void {
    const waiting = entry.waiting.splice(0);
    this.#addPending(-waiting.length);
    for (const done of waiting) done(answer);
  }

  #addPending(change: number): void {
    const { writer, settings } = this.#options;
    this.#pending += change;
    const { rq_pending_open: open, rq_pending_remaining: remaining } = DNS_CACHE_BREAKER.index;
    const left = Math.max(0, settings.maxPending - this.#pending);
    writer.setGauge(this.#breaker + open, left === 0 ? 1 : 0);
    writer.setGauge(this.#breaker + remaining, left);
  }

  #showHosts(): void {
    this.#options.writer.setGauge(this.#stats + DNS_CACHE.index.num_hosts, this.#entries.size);
  }

  #count(name: keyof typeof DNS_CACHE.index): void {
    this.#options.writer.increment(this.#stats + DNS_CACHE.index[name]);
  }
}
