/**
 * Chooses the filter chain of a connection. One criterion after the other, in Envoy's order,
 * the chains that say most about the connection remain; a chain that lost never comes back.
 */
import { IpRanges } from '../../shared/addresses/ip-ranges.ts';
import type { CidrRange, FilterChain, FilterChainMatch } from '../../shared/resources/listener.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { connectionStream } from '../stream/stream-info.ts';
import type { TreeMatcher } from '../matching/matcher-tree.ts';
import type { Address } from '../net/connection-info.ts';
import type { ConnectionFacts } from '../stream/connection-facts.ts';
import type { DownstreamTlsFactory } from '../tls/downstream-tls.ts';
import type { ChainServer } from '../stream/chain-server.ts';
import type { ChainDrain } from './drain-state.ts';

export interface CompiledChain {
  readonly resource: FilterChain;
  /** Undefined for a chain without filters, which closes its connections. */
  readonly server: ChainServer | undefined;
  readonly tls: DownstreamTlsFactory | undefined;
  /** Of this version of it. */
  readonly drain: ChainDrain;
}

/** What is known of a connection before its chain is chosen. */
type ChainInfo = Pick<
  ConnectionFacts,
  | 'localAddress'
  | 'remoteAddress'
  | 'directRemoteAddress'
  | 'requestedServerName'
  | 'transportProtocol'
  | 'applicationProtocols'
>;

/** How much a chain's criterion says of a connection: -1 contradicts, 0 nothing, more is better. */
type Score = (match: MatchIndex, facts: ChainInfo) => number;

/** Undefined: any address will do. */
type Ranges = IpRanges<true> | undefined;

interface MatchIndex {
  readonly match: FilterChainMatch;
  readonly local: Ranges;
  readonly directSource: Ranges;
  readonly source: Ranges;
}

interface Candidate {
  readonly chain: CompiledChain;
  readonly index: MatchIndex | undefined;
}

/** In the order of precedence. */
const CRITERIA: readonly Score[] = [
  ({ match }, facts) => exact(match.destinationPort, facts.localAddress.port),
  ({ local: ranges }, facts) => inRanges(ranges, facts.localAddress),
  ({ match }, facts) => serverNameScore(match.serverNames, facts.requestedServerName),
  ({ match }, { transportProtocol }) => exact(match.transportProtocol, transportProtocol),
  ({ match }, { applicationProtocols }) => protocolScore(match, applicationProtocols),
  ({ directSource }, facts) => inRanges(directSource, facts.directRemoteAddress),
  ({ match }, facts) => sourceTypeScore(match, facts),
  ({ source }, facts) => inRanges(source, facts.remoteAddress),
  ({ match }, facts) => portScore(match.sourcePorts, facts.remoteAddress.port),
];

export class ChainSelector {
  readonly #candidates: readonly Candidate[];
  readonly #default: CompiledChain | undefined;
  /** The answer where nothing has to be looked at. */
  readonly #only: CompiledChain | undefined;

  /** Stands in place of the chains' own matches where the listener has one. */
  readonly #matcher: ChainMatcher | undefined;

  constructor(
    chains: readonly CompiledChain[],
    defaultChain: CompiledChain | undefined,
    matcher?: ChainMatcher,
  ) {
    this.#matcher = matcher;
    this.#candidates = chains.map((chain) => {
      const { match } = chain.resource;
      return { chain, index: match === undefined ? undefined : indexMatch(match) };
    });
    this.#default = defaultChain;
    const [first] = this.#candidates;
    this.#only =
      matcher !== undefined
        ? undefined
        : first === undefined
          ? defaultChain
          : this.#candidates.length === 1 && first.index === undefined
            ? first.chain
            : undefined;
  }

  /** The chain that takes whatever comes, if there is one. */
  get only(): CompiledChain | undefined {
    return this.#only;
  }

  /** Undefined: no chain matches and there is no default one. */
  choose(facts: ConnectionFacts): CompiledChain | undefined {
    if (this.#matcher !== undefined) return this.#byMatcher(this.#matcher, facts);
    let left: readonly Candidate[] = this.#candidates;
    for (const score of CRITERIA) {
      if (left.length === 0) break;
      left = best(left, score, facts);
    }
    return left[0]?.chain ?? this.#default;
  }

  /** A name that no chain has closes the connection. */
  #byMatcher(matcher: ChainMatcher, facts: ConnectionFacts): CompiledChain | undefined {
    const name = matcher(NO_HEADERS, connectionStream(facts, UNTIMED));
    if (name === undefined) return this.#default;
    return this.#candidates.find(({ chain }) => chain.resource.name === name)?.chain;
  }
}

/** The name of the chain; undefined: the default one. */
export type ChainMatcher = TreeMatcher<string>;

const NO_HEADERS = new HeaderMap();
/** Nobody looks at the times of a connection that is not served yet. */
const UNTIMED = { ms: 0, wallMs: 0 };

function best(
  candidates: readonly Candidate[],
  score: Score,
  facts: ChainInfo,
): readonly Candidate[] {
  let highest = 0;
  let left: Candidate[] = [];
  for (const candidate of candidates) {
    const points = candidate.index === undefined ? 0 : score(candidate.index, facts);
    if (points < highest) continue;
    if (points > highest) left = [];
    highest = points;
    left.push(candidate);
  }
  return left;
}

function exact<Value extends string | number>(wanted: Value | undefined, value: Value): number {
  if (wanted === undefined || wanted === '') return 0;
  return wanted === value ? 1 : -1;
}

/** An exact name says more than any wildcard, a longer suffix more than a shorter one. */
function serverNameScore(names: readonly string[], serverName: string): number {
  if (names.length === 0) return 0;
  let score = -1;
  for (const name of names) {
    if (name === serverName && name !== '') return Number.MAX_SAFE_INTEGER;
    const suffix = name.startsWith('*.') ? name.slice(1) : undefined;
    if (suffix === undefined || !serverName.endsWith(suffix)) continue;
    if (serverName.length > suffix.length) score = Math.max(score, suffix.length);
  }
  return score;
}

/** The client's first protocol that any chain knows decides, so earlier ones score higher. */
function protocolScore(match: FilterChainMatch, offered: readonly string[]): number {
  if (match.applicationProtocols.length === 0) return 0;
  const at = offered.findIndex((name) => match.applicationProtocols.includes(name));
  return at < 0 ? -1 : offered.length - at;
}

function sourceTypeScore({ sourceType }: FilterChainMatch, facts: ChainInfo): number {
  if (sourceType === 'ANY') return 0;
  const { remoteAddress: remote, localAddress: local } = facts;
  const isNear = remote.kind === 'pipe' || remote.ip === local.ip || isLoopback(remote.ip);
  return (sourceType === 'SAME_IP_OR_LOOPBACK') === isNear ? 1 : -1;
}

function isLoopback(ip: string): boolean {
  return ip.startsWith('127.') || ip === '::1';
}

function portScore(ports: readonly number[], port: number): number {
  if (ports.length === 0) return 0;
  return ports.includes(port) ? 1 : -1;
}

/** The longest prefix wins. */
function inRanges(ranges: Ranges, address: Address): number {
  if (ranges === undefined) return 0;
  const narrowest = address.kind === 'pipe' ? undefined : ranges.narrowest(address.ip);
  return narrowest === undefined ? -1 : narrowest + 1;
}

function indexMatch(match: FilterChainMatch): MatchIndex {
  return {
    match,
    local: indexRanges(match.prefixRanges),
    directSource: indexRanges(match.directSourcePrefixRanges),
    source: indexRanges(match.sourcePrefixRanges),
  };
}

function indexRanges(cidrs: readonly CidrRange[]): Ranges {
  if (cidrs.length === 0) return undefined;
  const ranges = new IpRanges<true>();
  for (const cidr of cidrs) ranges.add(cidr, true);
  return ranges;
}
