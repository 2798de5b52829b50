/**
 * What becomes of a request from its connection on: the listener, its filter chain and why the
 * others are not chosen, and what that chain does.
 */
import type {
  AskedRequest,
  ExplainedEnd,
  Explanation,
  UnchosenChain,
} from '../../shared/explain/explanation.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import type { CompiledChain } from '../listener/chain-selector.ts';
import type { CompiledListener } from '../listener/compiled-listener.ts';
import { firstMismatch } from '../listener/chain-index.ts';
import type { ListenerInForce } from '../listener/listener-set.ts';
import type { LoopClock } from '../loop/loop-clock.ts';
import { runInSlices, type Steps } from '../loop/sliced-work.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { ConnectionFacts } from '../stream/connection-facts.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { StreamInfo } from '../stream/stream-info.ts';

/** Chains and names that are listed. */
const LISTED_MAX = 200;
const ANY_IP = '127.0.0.1';
/** The port of a client: no chain asks for it in earnest. */
const CLIENT_PORT = 50_000;
const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Takes turns with traffic; `listeners` are those that take new connections. */
export async function explainRequest(
  asked: AskedRequest,
  listeners: readonly ListenerInForce[],
  loop: Pick<WorkerLoop, 'slices' | 'clock'>,
): Promise<Explanation> {
  return await runInSlices(loop, explainInSteps(asked, listeners, loop.clock));
}

function* explainInSteps(
  asked: AskedRequest,
  listeners: readonly ListenerInForce[],
  clock: Pick<LoopClock, 'ms' | 'wallMs'>,
): Steps<Explanation> {
  const chosen = chooseListener(asked, listeners);
  if (chosen instanceof Unknown) return { end: chosen.end };
  const { version } = chosen;
  const { resource } = version;
  const listener = {
    name: resource.name,
    addresses: resource.addresses.map(addressText),
    listenerFilters: resource.listenerFilters.map(({ kind }) => kind),
  };
  const facts = connectionOf(asked, version);
  const chain = version.chains.choose(facts);
  if (chain === undefined) {
    const others = yield* explainOthers(version, undefined, facts);
    const filterChain = { name: '', isDefault: false, ...others };
    return {
      listener,
      filterChain,
      end: { why: 'no filter chain fits: the connection is closed' },
    };
  }
  facts.filterChainName = chain.resource.name;
  const filterChain = {
    name: chain.resource.name,
    isDefault: chain === version.chains.byDefault,
    ...(yield* explainOthers(version, chain, facts)),
  };
  if (chain.explain === undefined) {
    const last = chain.resource.networkFilters.at(-1)?.kind ?? 'nothing';
    return { listener, filterChain, end: { why: `the chain ends in ${last}, not in HTTP` } };
  }
  const info = new StreamInfo(facts, clock.ms, clock.wallMs);
  info.protocol = 'HTTP/1.1';
  return { listener, filterChain, ...(yield* chain.explain(headersOf(asked), info)) };
}

/** No listener can be said. */
class Unknown {
  readonly end: ExplainedEnd;

  constructor(why: string) {
    this.end = { why };
  }
}

/** By name, by where the client connects to, or the only one there is with HTTP. */
function chooseListener(
  asked: AskedRequest,
  listeners: readonly ListenerInForce[],
): ListenerInForce | Unknown {
  if (asked.listener !== undefined) {
    const named = listeners.find(({ listener }) => listener.name === asked.listener);
    return named ?? new Unknown(`there is no listener ${asked.listener}${namesOf(listeners)}`);
  }
  if (asked.port !== undefined) {
    const at = listenerAt(listeners, asked.ip ?? ANY_IP, asked.port);
    return at ?? new Unknown(`no listener listens at port ${asked.port}${namesOf(listeners)}`);
  }
  const port = portOf(asked);
  const [only, another] = listeners.filter(servesHttp);
  const found = listenerAt(listeners, ANY_IP, port) ?? (another === undefined ? only : undefined);
  if (found !== undefined) return found;
  const why = only === undefined ? 'no listener serves HTTP' : 'several listeners serve HTTP';
  return new Unknown(`${why} and none is named${namesOf(listeners)}`);
}

function listenerAt(
  listeners: readonly ListenerInForce[],
  ip: string,
  port: number,
): ListenerInForce | undefined {
  return (
    listeners.find(({ listener }) => listener.fitOf(ip, port) === 'address') ??
    listeners.find(({ listener }) => listener.fitOf(ip, port) === 'port')
  );
}

function servesHttp({ version: { chains } }: ListenerInForce): boolean {
  return [...chains.all, chains.byDefault].some((chain) => chain?.explain !== undefined);
}

function namesOf(listeners: readonly ListenerInForce[]): string {
  const names = listeners.slice(0, LISTED_MAX).map(({ listener }) => listener.name);
  return names.length === 0 ? '; there is none' : `; there are: ${names.join(', ')}`;
}

function portOf({ authority, scheme }: AskedRequest): number {
  const port = /:(\d{1,5})$/.exec(authority)?.[1];
  return port === undefined ? DEFAULT_PORTS[scheme] : Number(port);
}

/** As listener filters would leave it, those that say what the client said. */
function connectionOf(asked: AskedRequest, { resource }: CompiledListener): ConnectionFacts {
  const { name, direction, addresses, listenerFilters } = resource;
  const bound = addresses.find(({ kind }) => kind === 'ip');
  const boundIp = bound?.kind === 'ip' && !isWildcard(bound.address) ? bound.address : ANY_IP;
  const sides = {
    remoteAddress: asked.clientIp,
    remotePort: CLIENT_PORT,
    localAddress: asked.ip ?? boundIp,
    localPort: asked.port ?? (bound?.kind === 'ip' ? bound.port : 0),
  };
  const own = { name, direction, filterChainName: '', localAddress: undefined };
  const facts = new ConnectionFacts(sides, own);
  const looksAt = (kind: string): boolean => listenerFilters.some((each) => each.kind === kind);
  if (asked.scheme === 'https' && looksAt('tls_inspector')) {
    facts.transportProtocol = 'tls';
    facts.requestedServerName = asked.serverName ?? hostOf(asked.authority);
    facts.applicationProtocols = asked.applicationProtocols;
  } else if (looksAt('http_inspector')) {
    facts.applicationProtocols = ['http/1.1'];
  }
  return facts;
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

function hostOf(authority: string): string {
  return authority.replace(/:\d*$/, '').toLowerCase();
}

/** One step per chain. */
function* explainOthers(
  { resource, chains }: CompiledListener,
  chosen: CompiledChain | undefined,
  facts: ConnectionFacts,
): Steps<{ readonly others: readonly UnchosenChain[]; readonly omitted: number }> {
  const others: UnchosenChain[] = [];
  let omitted = 0;
  for (const chain of chains.all) {
    yield;
    if (chain === chosen) continue;
    if (others.length >= LISTED_MAX) omitted += 1;
    else others.push(whyNot(chain, facts, resource.chainMatcher !== undefined));
  }
  return { others, omitted };
}

function whyNot(
  { resource: { name, match } }: CompiledChain,
  facts: ConnectionFacts,
  isByTree: boolean,
): UnchosenChain {
  if (isByTree) {
    return { name, criterion: 'filter_chain_matcher', wants: name, actual: 'another name' };
  }
  const mismatch = match === undefined ? undefined : firstMismatch(match, facts);
  if (mismatch !== undefined) return { name, ...mismatch };
  const actual = 'another chain says more of the connection';
  return { name, criterion: 'precedence', wants: 'to be the closest match', actual };
}

function addressText(address: BoundAddress): string {
  return address.kind === 'pipe' ? address.path : `${address.address}:${address.port}`;
}

function headersOf(asked: AskedRequest): HeaderMap {
  const headers = new HeaderMap();
  headers.method = asked.method;
  headers.scheme = asked.scheme;
  headers.authority = asked.authority;
  headers.path = asked.path;
  for (const [name, value] of asked.headers) headers.add(name, value);
  return headers;
}
