/**
 * Finds the filter chain of a connection among however many a listener has. One criterion after the
 * other, in Envoy's order, the chains that say most about the connection remain; a chain that lost
 * never comes back. Each criterion is a look into a table of what the remaining chains say, which
 * is made when a connection first comes to it: a choice costs the same with ten chains and ten
 * thousand.
 */
import { IpRanges } from '../../shared/addresses/ip-ranges.ts';
import { networkOf } from '../../shared/addresses/network-of.ts';
import type { CidrRange, FilterChainMatch } from '../../shared/resources/listener.ts';
import type { Address } from '../net/connection-info.ts';
import type { ConnectionFacts } from '../stream/connection-facts.ts';

/** What is known of a connection before its chain is chosen. */
export type ChainInfo = Pick<
  ConnectionFacts,
  | 'localAddress'
  | 'remoteAddress'
  | 'directRemoteAddress'
  | 'requestedServerName'
  | 'transportProtocol'
  | 'applicationProtocols'
>;

/** A chain with what it asks for; undefined: nothing. */
export interface Candidate<Chain> {
  readonly chain: Chain;
  readonly match: FilterChainMatch | undefined;
}

/** What a chain says of one criterion: empty for nothing. */
type Said = string | number | CidrRange;

/** Finds what was said that fits a connection best. */
interface Table<Value> {
  find(info: ChainInfo): Value | undefined;
}

interface Criterion {
  /** As the API names it. */
  readonly name: string;
  /** What the connection has, for people. */
  readonly actual: (info: ChainInfo) => string;
  readonly said: (match: FilterChainMatch) => readonly Said[];
  readonly table: <Value>(said: ReadonlyMap<string, Entry<Value>>) => Table<Value>;
}

interface Entry<Value> {
  readonly said: Said;
  readonly value: Value;
}

/** In the order of precedence. */
const CRITERIA: readonly Criterion[] = [
  exact(
    'destination_port',
    ({ destinationPort: port }) => (port === undefined ? [] : [port]),
    (info) => info.localAddress.port,
  ),
  inRange(
    'prefix_ranges',
    ({ prefixRanges }) => prefixRanges,
    (info) => info.localAddress,
  ),
  {
    name: 'server_names',
    actual: (info) => info.requestedServerName,
    said: ({ serverNames }) => serverNames,
    table: byServerName,
  },
  exact(
    'transport_protocol',
    ({ transportProtocol: protocol }) => (protocol === '' ? [] : [protocol]),
    (info) => info.transportProtocol,
  ),
  {
    name: 'application_protocols',
    actual: (info) => info.applicationProtocols.join(', '),
    said: ({ applicationProtocols }) => applicationProtocols,
    table: byOfferedProtocol,
  },
  inRange(
    'direct_source_prefix_ranges',
    ({ directSourcePrefixRanges }) => directSourcePrefixRanges,
    (info) => info.directRemoteAddress,
  ),
  exact(
    'source_type',
    ({ sourceType }) => (sourceType === 'ANY' ? [] : [sourceType]),
    sourceTypeOf,
  ),
  inRange(
    'source_prefix_ranges',
    ({ sourcePrefixRanges }) => sourcePrefixRanges,
    (info) => info.remoteAddress,
  ),
  exact(
    'source_ports',
    ({ sourcePorts }) => sourcePorts,
    (info) => info.remoteAddress.port,
  ),
];

/** A criterion of a chain that a connection does not meet. */
export interface Mismatch {
  readonly criterion: string;
  readonly wants: string;
  readonly actual: string;
}

/** What of a chain's own match does not fit; undefined: it would be chosen if it were alone. */
export function firstMismatch(match: FilterChainMatch, info: ChainInfo): Mismatch | undefined {
  for (const { name, actual, said, table } of CRITERIA) {
    const all = said(match);
    if (all.length === 0) continue;
    const entries = new Map(all.map((each) => [keyOf(each), { said: each, value: true }]));
    if (table(entries).find(info) !== undefined) continue;
    return { criterion: name, wants: all.map(keyOf).join(', '), actual: actual(info) };
  }
  return undefined;
}

/** The chains that are left when the criteria before `#depth` have been looked at. */
export class ChainIndex<Chain> {
  readonly #candidates: readonly Candidate<Chain>[];
  #depth: number;
  #isAtCriterion = false;
  #table: Table<ChainIndex<Chain>> | undefined;
  /** Those that say nothing of the criterion; undefined: there are none. */
  #silent: ChainIndex<Chain> | undefined;

  /** The first one of equal chains is found. */
  constructor(candidates: readonly Candidate<Chain>[], depth = 0) {
    this.#candidates = candidates;
    this.#depth = depth;
  }

  /** Undefined: no chain fits. */
  find(info: ChainInfo): Chain | undefined {
    const criterion = this.#criterion();
    if (criterion === undefined) return this.#candidates[0]?.chain;
    this.#table ??= this.#makeTable(criterion);
    return (this.#table.find(info) ?? this.#silent)?.find(info);
  }

  /** The first one of which any chain says something; undefined where none does. */
  #criterion(): Criterion | undefined {
    if (!this.#isAtCriterion) {
      this.#isAtCriterion = true;
      while (!isAsked(this.#candidates, CRITERIA[this.#depth])) this.#depth++;
    }
    return CRITERIA[this.#depth];
  }

  #makeTable({ said, table }: Criterion): Table<ChainIndex<Chain>> {
    const silent: Candidate<Chain>[] = [];
    const groups = new Map<string, Entry<Candidate<Chain>[]>>();
    for (const candidate of this.#candidates) {
      const all = candidate.match === undefined ? [] : said(candidate.match);
      if (all.length === 0) silent.push(candidate);
      for (const each of all) {
        const key = keyOf(each);
        const group = groups.get(key);
        if (group === undefined) groups.set(key, { said: each, value: [candidate] });
        else if (group.value.at(-1) !== candidate) group.value.push(candidate);
      }
    }
    const next = this.#depth + 1;
    this.#silent = silent.length === 0 ? undefined : new ChainIndex(silent, next);
    const made = new Map<string, Entry<ChainIndex<Chain>>>();
    for (const [key, group] of groups) {
      made.set(key, { said: group.said, value: new ChainIndex(group.value, next) });
    }
    return table(made);
  }
}

/** Whether a chain says something of it; so it is too beyond the last criterion. */
function isAsked(
  candidates: readonly Candidate<unknown>[],
  criterion: Criterion | undefined,
): boolean {
  if (criterion === undefined) return true;
  return candidates.some(({ match }) => match !== undefined && criterion.said(match).length > 0);
}

/** Networks are the same however they are written. */
function keyOf(said: Said): string {
  return typeof said === 'object' ? networkOf(said.address, said.prefixLength) : String(said);
}

function exact(
  name: string,
  said: Criterion['said'],
  actual: (info: ChainInfo) => string | number,
): Criterion {
  return {
    name,
    actual: (info) => String(actual(info)),
    said,
    table: (entries) => ({ find: (info) => entries.get(String(actual(info)))?.value }),
  };
}

/** The longest prefix wins. */
function inRange(
  name: string,
  said: Criterion['said'],
  actual: (info: ChainInfo) => Address,
): Criterion {
  return {
    name,
    actual: (info) => actual(info).ip,
    said,
    table<Value>(entries: ReadonlyMap<string, Entry<Value>>) {
      const ranges = new IpRanges<Value>();
      for (const { said: range, value } of entries.values()) {
        if (typeof range === 'object') ranges.add(range, value);
      }
      return {
        find(info) {
          const address = actual(info);
          if (address.kind === 'pipe') return undefined;
          const [narrowest] = ranges.find(address.ip);
          return narrowest;
        },
      };
    },
  };
}

/** An exact name says more than any wildcard, a longer suffix more than a shorter one. */
function byServerName<Value>(entries: ReadonlyMap<string, Entry<Value>>): Table<Value> {
  let longest = 0;
  for (const name of entries.keys()) longest = Math.max(longest, name.length);
  return {
    find({ requestedServerName: name }) {
      if (name === '') return undefined;
      let found = entries.get(name);
      // No suffix is longer than those that are there, however many dots a client sends.
      let dot = name.indexOf('.', Math.max(1, name.length - longest));
      for (; found === undefined && dot > 0; dot = name.indexOf('.', dot + 1)) {
        found = entries.get(`*${name.slice(dot)}`);
      }
      return found?.value;
    },
  };
}

/** The client's first protocol that any chain knows decides. */
function byOfferedProtocol<Value>(entries: ReadonlyMap<string, Entry<Value>>): Table<Value> {
  return {
    find({ applicationProtocols }) {
      for (const protocol of applicationProtocols) {
        const found = entries.get(protocol);
        if (found !== undefined) return found.value;
      }
      return undefined;
    },
  };
}

function sourceTypeOf({ remoteAddress: remote, localAddress: local }: ChainInfo): string {
  const isNear = remote.kind === 'pipe' || remote.ip === local.ip || isLoopback(remote.ip);
  return isNear ? 'SAME_IP_OR_LOOPBACK' : 'EXTERNAL';
}

function isLoopback(ip: string): boolean {
  return ip.startsWith('127.') || ip === '::1';
}
