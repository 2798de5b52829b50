/**
 * Resolves names to addresses: literals, the hosts file, then c-ares through node:dns, which never
 * blocks the loop. One instance per resolver configuration; it keeps no answers.
 */
import { isIP } from '../../shared/addresses/ip-text.ts';
import { networkInterfaces } from 'node:os';
import { systemClock } from '../../shared/process/clock.ts';
import { DNS_RESOLVER } from '../../shared/stats/templates/cluster-features.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { DnsFamily, ResolverSettings } from '../resolved/resolved-bootstrap.ts';
import { Channels } from './channels.ts';
import type { AddressRecord } from '../../shared/dns/dns-message.ts';
import { HostsFile } from './hosts-file.ts';
import { Turns } from './turns.ts';
import { candidatesOf, NO_SEARCH, readSearchList, type SearchList } from './search-list.ts';

const HOSTS_PATH = '/etc/hosts';
const RESOLV_CONF_PATH = '/etc/resolv.conf';

export interface ResolvedName {
  readonly address: string;
  /** Seconds; 0 for what no name server said. */
  readonly ttlS: number;
}

/**
 * `empty`: the name or its addresses do not exist; `failed`: nobody could say. `details` are for log
 * lines; absent where nobody was asked.
 */
export type Resolution =
  | { readonly outcome: 'found'; readonly addresses: readonly ResolvedName[] }
  | {
      readonly outcome: 'empty' | 'failed';
      readonly details?: string;
      /** No name server answered in time. */
      readonly isTimeout?: true;
    };

type Family = 4 | 6;

export interface NameResolverOptions {
  readonly settings: ResolverSettings;
  readonly writer: StatWriter;
  readonly hostsPath?: string;
  readonly resolvConfPath?: string;
}

/** The next server may know more. */
const UNREACHED: ReadonlySet<string> = new Set(['ETIMEOUT', 'ECONNREFUSED']);

const TTL_MAX_S = 0x7fff_ffff;

const EMPTY: Resolution = { outcome: 'empty' };

export class NameResolver {
  readonly #settings: ResolverSettings;
  readonly #writer: StatWriter;
  readonly #stats: number;
  readonly #hosts: HostsFile;
  readonly #search: SearchList;
  readonly #turns = new Turns();
  #channels: Channels;
  #pending = 0;
  #mustReinit = false;
  #isClosed = false;

  constructor(options: NameResolverOptions) {
    const { settings, writer } = options;
    this.#settings = settings;
    this.#writer = writer;
    this.#stats = writer.defineBlock(DNS_RESOLVER, 'dns.cares.');
    this.#hosts = new HostsFile(options.hostsPath ?? HOSTS_PATH);
    this.#search = settings.noSearchDomains
      ? NO_SEARCH
      : readSearchList(options.resolvConfPath ?? RESOLV_CONF_PATH);
    this.#channels = new Channels(this.#settings, this.#turns);
  }

  /** Never rejects. */
  async resolve(name: string, family: DnsFamily): Promise<Resolution> {
    await this.#turns.next();
    if (this.#mustReinit && this.#pending === 0) this.#reinit();
    switch (family) {
      case 'V4_ONLY':
        return this.#resolveFamily(name, 4);
      case 'V6_ONLY':
        return this.#resolveFamily(name, 6);
      case 'AUTO':
        return this.#resolvePreferring(name, 6, 4);
      case 'V4_PREFERRED':
        return this.#resolvePreferring(name, 4, 6);
      case 'ALL': {
        this.#count('resolve_total');
        const both = await Promise.all([this.#answer(name, 4), this.#answer(name, 6)]);
        return this.#counted(joined(both));
      }
    }
  }

  /** Answers what is under way as failed. */
  close(): void {
    this.#isClosed = true;
    this.#channels.cancel();
    this.#writer.releaseBlock(this.#stats);
  }

  async #resolvePreferring(name: string, first: Family, second: Family): Promise<Resolution> {
    const preferred = await this.#resolveFamily(name, first);
    return preferred.outcome === 'found' ? preferred : this.#resolveFamily(name, second);
  }

  async #resolveFamily(name: string, family: Family): Promise<Resolution> {
    this.#count('resolve_total');
    return this.#counted(await this.#answer(name, family));
  }

  async #answer(name: string, family: Family): Promise<Resolution> {
    if (isIP(name) !== 0) return found([name]);
    if (name === '' || (this.#settings.skipsUnroutable && !isRoutable(family))) return EMPTY;
    const known = (await this.#hosts.lookUp(name)).filter((address) => isIP(address) === family);
    if (known.length > 0) return found(known);
    if (/(^|\.)localhost\.?$/i.test(name)) return found([family === 4 ? '127.0.0.1' : '::1']);
    let answer: Resolution = EMPTY;
    for (const candidate of candidatesOf(name, this.#search)) {
      answer = await this.#query(candidate, family);
      if (answer.outcome !== 'empty') return answer;
    }
    return answer;
  }

  async #query(name: string, family: Family): Promise<Resolution> {
    this.#setPending(1);
    const answer = await (this.#settings.usesTcp
      ? this.#askOverTcp(name, family)
      : this.#askCares(name, family));
    this.#setPending(-1);
    return answer;
  }

  #askCares(name: string, family: Family): Promise<Resolution> {
    return new Promise((resolve) => {
      this.#channels.ask(name, family, (error, records) =>
        resolve(error === null ? fromRecords(records) : this.#failure(error.code)),
      );
    });
  }

  /** Each server in turn, as often as is configured. */
  async #askOverTcp(name: string, family: Family): Promise<Resolution> {
    const { timeoutMs, tries } = this.#settings;
    const { lookUpOverTcp } = await import('./tcp-lookup.ts');
    let code = 'ECONNREFUSED';
    for (let attempt = 0; attempt < tries && !this.#isClosed; attempt++) {
      for (const server of this.#channels.servers) {
        const answer = await lookUpOverTcp({ server, name, family, timeoutMs }, systemClock);
        if (typeof answer !== 'string') return fromRecords(answer);
        code = answer;
        if (!UNREACHED.has(code)) return this.#failure(code);
      }
    }
    return this.#failure(code);
  }

  #failure(code: string | undefined): Resolution {
    const details = failureTexts(code);
    if (code === 'ENOTFOUND' || code === 'ENODATA') return { outcome: 'empty', details };
    // The system's name servers may be others by now.
    this.#mustReinit = true;
    if (code !== 'ETIMEOUT') return { outcome: 'failed', details };
    this.#count('timeouts');
    return { outcome: 'failed', details, isTimeout: true };
  }

  #counted(answer: Resolution): Resolution {
    if (answer.outcome === 'empty') this.#count('not_found');
    if (answer.outcome === 'failed' && answer.isTimeout !== true) this.#count('get_addr_failure');
    return answer;
  }

  #reinit(): void {
    this.#mustReinit = false;
    this.#count('reinits');
    this.#channels = new Channels(this.#settings, this.#turns);
  }

  #setPending(change: 1 | -1): void {
    this.#pending += change;
    this.#writer.setGauge(this.#stats + DNS_RESOLVER.index.pending_resolutions, this.#pending);
  }

  #count(name: 'resolve_total' | 'not_found' | 'timeouts' | 'reinits' | 'get_addr_failure'): void {
    this.#writer.increment(this.#stats + DNS_RESOLVER.index[name]);
  }
}

function found(addresses: readonly string[]): Resolution {
  return { outcome: 'found', addresses: addresses.map((address) => ({ address, ttlS: 0 })) };
}

function fromRecords(records: readonly AddressRecord[]): Resolution {
  if (records.length === 0) return EMPTY;
  return {
    outcome: 'found',
    // The runtime tells the times of the first 256 alone.
    addresses: records.map(({ address, ttl }: { address: string; ttl?: number }) => ({
      address,
      ttlS: lifetimeOf(ttl ?? records[0]?.ttl ?? 0),
    })),
  };
}

/** RFC 2181: one with the highest bit set is none. */
function lifetimeOf(ttl: number): number {
  return ttl < 0 || ttl > TTL_MAX_S ? 0 : ttl;
}

/** What either family brought; failed only when neither could be asked. A literal comes once. */
function joined(answers: readonly Resolution[]): Resolution {
  const addresses = new Map<string, ResolvedName>();
  for (const answer of answers) {
    if (answer.outcome !== 'found') continue;
    for (const each of answer.addresses) addresses.set(each.address, each);
  }
  if (addresses.size > 0) return { outcome: 'found', addresses: [...addresses.values()] };
  return answers.some(({ outcome }) => outcome === 'failed') ? { outcome: 'failed' } : EMPTY;
}

function isRoutable(family: Family): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some((address) => !address.internal && address.family === `IPv${family}`),
  );
}

const RECORDS_MISSING: Readonly<Record<string, string>> = {
  ENOTFOUND: 'Domain_name_not_found',
  ENODATA: 'DNS_server_returned_answer_with_no_data',
};
const FAILURES: Readonly<Record<string, string>> = {
  ESERVFAIL: 'DNS_server_returned_general_failure',
  ETIMEOUT: 'Timeout_while_contacting_DNS_servers',
  ECONNREFUSED: 'Could_not_contact_DNS_servers',
  EREFUSED: 'DNS_server_refused_query',
  EFORMERR: 'DNS_server_claims_query_was_misformatted',
  ENOTIMP: 'DNS_server_does_not_implement_requested_operation',
  EBADNAME: 'Misformatted_domain_name',
  EBADRESP: 'Misformatted_DNS_reply',
};

/** As access logs of Envoy have it. */
function failureTexts(code = 'ESERVFAIL'): string {
  const missing = RECORDS_MISSING[code];
  return missing === undefined
    ? `cares_failure:${FAILURES[code] ?? code}`
    : `cares_norecords:${missing}`;
}
