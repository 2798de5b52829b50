import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FilterChainMatch } from '../../../../shared/resources/listener.ts';
import { ChainSelector, type CompiledChain } from '../../../../workers/listener/chain-selector.ts';
import { ConnectionFacts } from '../../../../workers/stream/connection-facts.ts';
import { ChainDrain } from '../../../../workers/listener/drain-state.ts';
import { ipAddress } from '../../../../workers/net/addresses.ts';

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

function chain(name: string, match: Partial<FilterChainMatch>): CompiledChain {
  return {
    resource: { name, match: { ...ANYTHING, ...match }, networkFilters: [] },
    server: undefined,
    tls: undefined,
    drain: new ChainDrain(),
  };
}

interface Client {
  readonly from?: string;
  readonly fromPort?: number;
  readonly to?: string;
  readonly port?: number;
  readonly name?: string;
  readonly protocols?: readonly string[];
}

/** A TLS client whose own socket is on 127.0.0.1. */
function choose(
  chains: Readonly<Record<string, Partial<FilterChainMatch>>>,
  { from = '10.0.0.1', fromPort = 5, to = '10.0.0.9', port = 443, name = '', ...rest }: Client = {},
): string | undefined {
  const facts = new ConnectionFacts(
    { remoteAddress: '127.0.0.1', remotePort: 1 },
    { name: '', direction: 'UNSPECIFIED', filterChainName: '', localAddress: undefined },
  );
  facts.overrideAddresses(ipAddress(from, fromPort), ipAddress(to, port));
  facts.requestedServerName = name;
  facts.transportProtocol = 'tls';
  facts.applicationProtocols = rest.protocols ?? [];
  const compiled = Object.entries(chains).map(([each, match]) => chain(each, match));
  return new ChainSelector(compiled, undefined).choose(facts)?.resource.name;
}

const range = (text: string): { readonly address: string; readonly prefixLength: number } => {
  const [address = '', length] = text.split('/');
  return { address, prefixLength: Number(length) };
};

/** In the order of precedence: each beats all that follow, together. */
const CRITERIA: readonly (readonly [string, Partial<FilterChainMatch>])[] = [
  ['the destination port', { destinationPort: 443 }],
  ['the destination address', { prefixRanges: [range('10.0.0.0/8')] }],
  ['the server name', { serverNames: ['a.test'] }],
  ['the transport protocol', { transportProtocol: 'tls' }],
  ['the application protocols', { applicationProtocols: ['h2'] }],
  ['the direct source', { directSourcePrefixRanges: [range('127.0.0.0/8')] }],
  ['the kind of source', { sourceType: 'EXTERNAL' }],
  ['the source address', { sourcePrefixRanges: [range('10.0.0.0/8')] }],
  ['the source port', { sourcePorts: [5] }],
];

describe('the filter chain of a connection', () => {
  const client = { name: 'a.test', protocols: ['h2'] };
  for (const [position, [what, match]] of CRITERIA.entries()) {
    it(`is chosen by ${what} before all that is asked after it`, () => {
      const rest = CRITERIA.slice(position + 1).reduce(
        (all, [, each]) => ({ ...all, ...each }),
        {},
      );
      assert.equal(choose({ rest, wanted: match, nothing: {} }, client), 'wanted');
    });
  }

  it('never comes back once it lost, though the winner fails a later criterion', () => {
    const chains = { byPort: { destinationPort: 443, serverNames: ['other.test'] }, nothing: {} };
    assert.equal(choose(chains, client), undefined);
    assert.equal(choose(chains, { ...client, port: 80 }), 'nothing');
  });

  const NAMES = {
    exact: { serverNames: ['b.a.test'] },
    long: { serverNames: ['*.a.test'] },
    short: { serverNames: ['*.test'] },
    none: {},
  };
  for (const [name, wanted] of [
    ['b.a.test', 'exact'],
    ['c.b.a.test', 'long'],
    ['a.test', 'short'],
    ['test', 'none'],
    ['', 'none'],
  ] as const) {
    it(`is the most exact one for the server name '${name}': ${wanted}`, () => {
      assert.equal(choose(NAMES, { name }), wanted);
    });
  }

  it('is that of the longest range, and of the first protocol of the client that any chain has', () => {
    const ranges = {
      wide: { prefixRanges: [range('10.0.0.0/8')] },
      narrow: { prefixRanges: [range('10.0.0.0/24'), range('192.168.0.0/16')] },
      none: {},
    };
    assert.equal(choose(ranges), 'narrow');
    assert.equal(choose(ranges, { to: '10.1.0.1' }), 'wide');
    assert.equal(choose(ranges, { to: '172.16.0.1' }), 'none');
    const protocols = {
      h1: { applicationProtocols: ['http/1.1'] },
      h2: { applicationProtocols: ['h2', 'h3'] },
    };
    assert.equal(choose(protocols, { protocols: ['x', 'http/1.1', 'h2'] }), 'h1');
    assert.equal(choose(protocols, { protocols: ['h3', 'http/1.1'] }), 'h2');
    assert.equal(choose(protocols, { protocols: ['x'] }), undefined);
  });

  it('knows a source as near that is on this machine or has the same address', () => {
    const kinds = {
      near: { sourceType: 'SAME_IP_OR_LOOPBACK' },
      far: { sourceType: 'EXTERNAL' },
    } as const;
    assert.equal(choose(kinds), 'far');
    assert.equal(choose(kinds, { from: '127.0.0.5' }), 'near');
    assert.equal(choose(kinds, { from: '10.0.0.9' }), 'near');
  });
});
