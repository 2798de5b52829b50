/** Answers the questions of DNS that come to a listener: of itself, or by asking name servers. */
import { scopePrefix } from '../../../shared/stats/stat-scope.ts';
import { DNS_FILTER } from '../../../shared/stats/templates/dns-filter.ts';
import type { DnsFilter, DnsForwarding } from '../../../shared/resources/udp-listener.ts';
import type { DatagramFilter } from '../udp-filters.ts';
import type { UdpProxyParts } from '../udp-proxy.ts';
import type { Client } from '../udp-session.ts';
import { DnsNames, type OwnAnswer, TTL_S } from './dns-names.ts';
import {
  addressRecord,
  type DnsQuestion,
  type DnsRecord,
  FORMAT_ERROR,
  NAME_UNKNOWN,
  NO_ERROR,
  NOT_IMPLEMENTED,
  readQuestion,
  TYPE_A,
  TYPE_AAAA,
  TYPE_SRV,
  writeAnswer,
} from './dns-question.ts';
import { ForwardedQuestion } from './forwarded-question.ts';

type Counter = keyof typeof DNS_FILTER.index;

/** One message, and to whom its answer goes. */
interface Asked {
  readonly data: Buffer;
  readonly client: Client;
  readonly sinceMs: number;
}

const NOTHING: OwnAnswer = { source: 'local', records: [], additional: [] };
type ByType = ReadonlyMap<number, Counter>;
const byType = (a: Counter, aaaa: Counter, srv?: Counter): ByType => {
  const pairs: [number, Counter][] = [
    [TYPE_A, a],
    [TYPE_AAAA, aaaa],
  ];
  if (srv !== undefined) pairs.push([TYPE_SRV, srv]);
  return new Map(pairs);
};
const OWN_RECORDS: Readonly<Record<OwnAnswer['source'], ByType>> = {
  local: byType('local_a_record_answers', 'local_aaaa_record_answers', 'local_srv_record_answers'),
  cluster: byType(
    'cluster_a_record_answers',
    'cluster_aaaa_record_answers',
    'cluster_srv_record_answers',
  ),
};
const ASKED_FOR = byType('a_record_queries', 'aaaa_record_queries', 'srv_record_queries');
const FORWARDED = byType('external_a_record_queries', 'external_aaaa_record_queries');
const FORWARDED_RECORDS = byType('external_a_record_answers', 'external_aaaa_record_answers');

export class DnsServer implements DatagramFilter {
  readonly #parts: UdpProxyParts;
  readonly #names: DnsNames;
  readonly #forward: DnsForwarding | undefined;
  readonly #base: number;
  readonly #forwarded = new Set<ForwardedQuestion>();

  constructor(config: DnsFilter, parts: UdpProxyParts) {
    this.#parts = parts;
    this.#names = new DnsNames(config, parts.clusters);
    this.#forward = config.forward;
    this.#base = parts.stats.defineBlock(
      DNS_FILTER,
      scopePrefix(`dns_filter.${config.statPrefix}`),
    );
  }

  receive(data: Buffer, client: Client): void {
    const asked: Asked = { data, client, sinceMs: this.#parts.loop.clock.ms };
    this.#count('downstream_rx_queries');
    this.#record('downstream_rx_bytes', data.length);
    const read = readQuestion(data);
    if (read.kind === 'fault') {
      if (read.fault !== undefined) this.#count(read.fault);
      this.#count('downstream_rx_invalid_queries');
      return this.#answer(asked, undefined, FORMAT_ERROR, NOTHING);
    }
    const { question } = read;
    if (question.hasMore) this.#count('queries_with_additional_rrs');
    this.#count(ASKED_FOR.get(question.type) ?? 'unsupported_queries');
    const isKnown = this.#names.knows(question.name);
    if (isKnown) this.#count('known_domain_queries');
    const own = isKnown || this.#forward === undefined ? this.#names.answer(question) : undefined;
    if (own !== undefined) {
      this.#countRecords(OWN_RECORDS[own.source], [...own.records, ...own.additional]);
      this.#reply(asked, question, own);
    } else if (this.#forward === undefined) this.#reply(asked, question, NOTHING);
    else this.#ask(asked, question, this.#forward);
  }

  receiveFailed(): void {
    this.#count('downstream_rx_errors');
  }

  sendFailed(): void {
    // Envoy has no counter for it; the client asks again.
  }

  release(): void {
    for (const each of this.#forwarded) each.end();
    this.#forwarded.clear();
    this.#parts.stats.releaseBlock(this.#base);
  }

  #ask(asked: Asked, question: DnsQuestion, forward: DnsForwarding): void {
    this.#count('externally_resolved_queries');
    const { name, type } = question;
    const counter = FORWARDED.get(type);
    if (counter === undefined) {
      this.#count('external_unsupported_queries');
      return this.#reply(asked, question, NOTHING);
    }
    this.#count(counter);
    const family = type === TYPE_A ? 4 : 6;
    const told = (addresses: readonly string[]): void => {
      this.#forwarded.delete(forwarded);
      const records = addresses.map((each) => addressRecord(name, TTL_S, each));
      this.#countRecords(FORWARDED_RECORDS, records);
      this.#reply(asked, question, { ...NOTHING, records });
    };
    const forwarded = new ForwardedQuestion({ name, family }, forward, this.#parts.loop, told);
    if (this.#forwarded.size < forward.maxPending && forwarded.ask()) {
      this.#forwarded.add(forwarded);
    } else this.#reply(asked, question, NOTHING);
  }

  #countRecords(counters: ByType, records: readonly DnsRecord[]): void {
    for (const { type } of records) {
      const counter = counters.get(type);
      if (counter !== undefined) this.#count(counter);
    }
  }

  #reply(asked: Asked, question: DnsQuestion, answer: OwnAnswer): void {
    if (answer.records.length > 0) return this.#answer(asked, question, NO_ERROR, answer);
    this.#count('unanswered_queries');
    const isServed = ASKED_FOR.has(question.type);
    this.#answer(asked, question, isServed ? NAME_UNKNOWN : NOT_IMPLEMENTED, answer);
  }

  #answer(
    { data, client, sinceMs }: Asked,
    question: DnsQuestion | undefined,
    code: number,
    { records, additional }: OwnAnswer,
  ): void {
    const isRecursive = this.#forward !== undefined;
    const answer = writeAnswer(data, { code, question, records, additional, isRecursive });
    this.#count('downstream_tx_responses');
    this.#record('downstream_tx_bytes', answer.length);
    this.#record('downstream_rx_query_latency', this.#parts.loop.clock.ms - sinceMs);
    client.door.send(answer, client);
  }

  #count(counter: Counter): void {
    this.#parts.stats.increment(this.#base + DNS_FILTER.index[counter]);
  }

  #record(name: Counter, value: number): void {
    this.#parts.stats.record(this.#base + DNS_FILTER.index[name], value);
  }
}
