/**
 * Listeners with as many filter chains as configurations get: choosing one, and comparing two
 * versions of them, costs no more than with a few. A plain search through all chains says which one
 * is right.
 */
import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type {
  CidrRange,
  FilterChainMatch,
  ListenerResource,
} from '../../../shared/resources/listener.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { goneChains, routesHolder } from '../../../supervisor/xds/kinds/listener-changes.ts';
import { survivorsOf } from '../../../workers/listener/chain-changes.ts';
import { ChainIndex, type ChainInfo } from '../../../workers/listener/chain-index.ts';
import { ipAddress } from '../../../workers/net/addresses.ts';
import { attackParameters, attackRuns } from '../../support/attack.ts';

const COUNT = attackRuns(10_000, 100_000);
const indices = Array.from({ length: COUNT }, (_, at) => at);

const ANYTHING: FilterChainMatch = {
  prefixRanges: [],
  serverNames: [],
  transportProtocol: '',
  applicationProtocols: [],
  directSourcePrefixRanges: [],
  sourceType: 'ANY',
  sourcePrefixRanges: [],
  sourcePorts: [],
};

const client = (more: Partial<ChainInfo> = {}): ChainInfo => ({
  localAddress: ipAddress('10.0.0.9', 443),
  remoteAddress: ipAddress('10.0.0.1', 5),
  directRemoteAddress: ipAddress('127.0.0.1', 1),
  requestedServerName: '',
  transportProtocol: 'tls',
  applicationProtocols: [],
  ...more,
});

describe('a listener with many filter chains', () => {
  const kinds: readonly (readonly [
    string,
    (at: number) => Partial<FilterChainMatch>,
    (at: number) => Partial<ChainInfo>,
  ])[] = [
    [
      'names',
      (at) => ({ serverNames: [nameOf(at)] }),
      (at) => ({ requestedServerName: nameOf(at) }),
    ],
    [
      'wildcards',
      (at) => ({ serverNames: [`*.${nameOf(at)}`] }),
      (at) => ({ requestedServerName: `a.b.${nameOf(at)}` }),
    ],
    [
      'networks',
      (at) => ({ sourcePrefixRanges: [{ address: ipOf(at), prefixLength: 32 }] }),
      (at) => ({ remoteAddress: ipAddress(ipOf(at), 5) }),
    ],
    [
      'protocols',
      (at) => ({ applicationProtocols: [nameOf(at)] }),
      (at) => ({ applicationProtocols: ['other', nameOf(at)] }),
    ],
  ];
  for (const [kind, match, facts] of kinds) {
    it(`finds one by its ${kind}`, () => {
      const index = new ChainIndex(
        indices.map((at) => ({ chain: at, match: { ...ANYTHING, ...match(at) } })),
      );
      assert.equal(index.find(client(facts(COUNT - 1))), COUNT - 1);
      const begun = process.cpuUsage();
      for (let at = 0; at < COUNT; at++) assert.equal(index.find(client(facts(at))), at);
      assert.equal(index.find(client()), undefined);
      // A search would take more than a minute.
      assert.ok(process.cpuUsage(begun).user < 1_500_000 * (COUNT / 10_000));
    });
  }

  it('takes a name of many dots at once', () => {
    const index = new ChainIndex(
      indices.map((at) => ({
        chain: at,
        match: { ...ANYTHING, serverNames: [`*.${nameOf(at)}`] },
      })),
    );
    const names = ['.'.repeat(16_000), 'a.'.repeat(8000), `${'x.'.repeat(8000)}${nameOf(7)}`];
    const begun = process.cpuUsage();
    for (let turn = 0; turn < 50; turn++) {
      const found = names.map((name) => index.find(client({ requestedServerName: name })));
      assert.deepEqual(found, [undefined, undefined, 7]);
    }
    assert.ok(process.cpuUsage(begun).user < 500_000);
  });

  it('is compared with its next version chain by chain', () => {
    const chains = (changed: number): ListenerResource =>
      ({
        name: 'l',
        filterChains: indices.map((at) => ({
          name: '',
          match: { ...ANYTHING, serverNames: [nameOf(at)] },
          networkFilters: at === changed ? [{ kind: 'echo' }] : [],
        })),
      }) as unknown as ListenerResource;
    const earlier = chains(-1);
    const survives = survivorsOf(earlier, chains(5));
    const begun = process.cpuUsage();
    const gone = earlier.filterChains.filter((chain) => !survives(chain));
    assert.deepEqual(gone, [earlier.filterChains[5]]);
    assert.ok(process.cpuUsage(begun).user < 1_500_000 * (COUNT / 10_000));
  });
});

describe('a message of a listener with many filter chains', () => {
  it('is compared with its next version chain by chain, whatever the order of its fields', () => {
    const chain = (at: number, port: number, isTurned = false): JsonObject => {
      const range = isTurned
        ? { prefix_len: 32, address_prefix: ipOf(at) }
        : { address_prefix: ipOf(at), prefix_len: 32 };
      return { filter_chain_match: { source_prefix_ranges: [range] }, filters: [{ port }] };
    };
    const earlier = { filter_chains: indices.map((at) => chain(at, 1)) };
    const later = { filter_chains: indices.map((at) => chain(at, at === 7 ? 2 : 1, at % 2 === 0)) };
    const begun = process.cpuUsage();
    assert.deepEqual(goneChains(earlier, later), [earlier.filter_chains[7]]);
    assert.ok(process.cpuUsage(begun).user < 1_500_000 * (COUNT / 10_000));
  });

  it('tells which routes stand in a chain with one look', () => {
    const routes = indices.map((at) => ({ name: `r${at}` }));
    const chains = routes.map((each) => ({ filters: [{ typed_config: { route_config: each } }] }));
    const begun = process.cpuUsage();
    assert.deepEqual(routes.filter(routesHolder(chains.slice(0, -1))), routes.slice(0, -1));
    assert.ok(process.cpuUsage(begun).user < 300_000 * (COUNT / 10_000));
  });
});

const nameOf = (at: number): string => `h${at}.example`;
const ipOf = (at: number): string => `11.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;

describe('any list of filter chains', () => {
  it('gives the chain that a search through all of them finds', () => {
    fc.assert(
      fc.property(fc.array(MATCHES, { maxLength: 8 }), CLIENTS, (matches, info) => {
        const candidates = matches.map((match, chain) => ({ chain, match }));
        assert.equal(new ChainIndex(candidates).find(info), searched(candidates, info));
      }),
      attackParameters(5000, 500_000),
    );
  });
});

const some = <Value>(...values: Value[]): fc.Arbitrary<Value[]> =>
  fc.oneof({ arbitrary: fc.constant<Value[]>([]), weight: 2 }, fc.subarray(values));
const RANGES = some<CidrRange>(
  { address: '10.0.0.0', prefixLength: 8 },
  { address: '10.9.9.9', prefixLength: 8 },
  { address: '10.0.0.1', prefixLength: 32 },
  { address: '127.0.0.1', prefixLength: 16 },
  { address: '::ffff:10.0.0.1', prefixLength: 128 },
  { address: '::', prefixLength: 0 },
);
const NAMES = ['a.test', '*.test', '*.b.test', 'a.b.test', '*.', ''];
const MATCHES = fc.option(
  fc.record({
    destinationPort: fc.constantFrom(undefined, undefined, 0, 443, 80),
    prefixRanges: RANGES,
    serverNames: some(...NAMES),
    transportProtocol: fc.constantFrom('', '', 'tls', 'raw_buffer'),
    applicationProtocols: some('h2', 'http/1.1', ''),
    directSourcePrefixRanges: RANGES,
    sourceType: fc.constantFrom('ANY', 'ANY', 'EXTERNAL', 'SAME_IP_OR_LOOPBACK'),
    sourcePrefixRanges: RANGES,
    sourcePorts: some(0, 5, 6),
  }) as fc.Arbitrary<FilterChainMatch>,
  { nil: undefined },
);
const ADDRESSES = fc
  .tuple(
    fc.constantFrom('10.0.0.1', '10.0.0.2', '127.0.0.1', '::1'),
    fc.constantFrom(0, 5, 80, 443),
  )
  .map(([ip, port]) => ipAddress(ip, port));
const CLIENTS: fc.Arbitrary<ChainInfo> = fc.record({
  localAddress: ADDRESSES,
  remoteAddress: ADDRESSES,
  directRemoteAddress: ADDRESSES,
  requestedServerName: fc.constantFrom(...NAMES, 'c.test', 'x.b.test', '.test', 'x.', '*.test'),
  transportProtocol: fc.constantFrom('tls', 'raw_buffer'),
  applicationProtocols: fc.subarray(['x', 'http/1.1', 'h2', ''], { maxLength: 4 }),
});

type Candidates = readonly {
  readonly chain: number;
  readonly match: FilterChainMatch | undefined;
}[];

/** Criterion by criterion, those with the most points stay. */
function searched(candidates: Candidates, info: ChainInfo): number | undefined {
  let left = candidates;
  for (const points of POINTS) {
    const given = left.map(({ match }) => (match === undefined ? 0 : points(match, info)));
    const most = Math.max(0, ...given);
    left = left.filter((_, at) => given[at] === most);
  }
  return left[0]?.chain;
}

const POINTS: readonly ((match: FilterChainMatch, info: ChainInfo) => number)[] = [
  ({ destinationPort: port }, { localAddress }) =>
    oneOf(port === undefined ? [] : [port], localAddress.port),
  ({ prefixRanges }, { localAddress }) => within(prefixRanges, localAddress),
  ({ serverNames }, info) => named(serverNames, info.requestedServerName),
  ({ transportProtocol: own }, info) => oneOf(own === '' ? [] : [own], info.transportProtocol),
  ({ applicationProtocols: own }, { applicationProtocols: offered }) => {
    if (own.length === 0) return 0;
    const at = offered.findIndex((protocol) => own.includes(protocol));
    return at < 0 ? -1 : offered.length - at;
  },
  (match, info) => within(match.directSourcePrefixRanges, info.directRemoteAddress),
  ({ sourceType }, { remoteAddress, localAddress }) => {
    const isNear = ['127.0.0.1', '::1', localAddress.ip].includes(remoteAddress.ip);
    return oneOf(
      sourceType === 'ANY' ? [] : [sourceType],
      isNear ? 'SAME_IP_OR_LOOPBACK' : 'EXTERNAL',
    );
  },
  (match, info) => within(match.sourcePrefixRanges, info.remoteAddress),
  (match, info) => oneOf(match.sourcePorts, info.remoteAddress.port),
];

function oneOf<Value>(wanted: readonly Value[], value: Value): number {
  if (wanted.length === 0) return 0;
  return wanted.includes(value) ? 1 : -1;
}

function named(names: readonly string[], name: string): number {
  if (names.length === 0) return 0;
  const points = names.map((each) => {
    if (each === name && name !== '') return 1000;
    const isSuffix =
      each.startsWith('*') && name.length >= each.length && name.endsWith(each.slice(1));
    return isSuffix ? each.length : -1;
  });
  return Math.max(...points);
}

function within(ranges: readonly CidrRange[], { ip }: { readonly ip: string }): number {
  if (ranges.length === 0) return 0;
  const lengths = ranges.map(({ address, prefixLength }) => {
    const list = new BlockList();
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    list.addSubnet(address, prefixLength, family);
    const isSame = ip.includes(':') === (family === 'ipv6');
    return isSame && list.check(ip, family) ? prefixLength + 1 : -1;
  });
  return Math.max(...lengths);
}
