import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HashPolicy } from '../../../../../shared/resources/routes/route.ts';
import { xxHash64 } from '../../../../../workers/hash/xxhash64.ts';
import { HeaderMap } from '../../../../../workers/stream/header-map.ts';
import { compileHashPolicies } from '../../../../../workers/routing/hash-policy.ts';
import type { UpstreamHost } from '../../../../../workers/upstream/hosts/host.ts';
import { updateBalancer } from '../../../../../workers/upstream/balancing/load-balancer.ts';
import { HASH_CHOICES } from '../../../../support/parts/hash-choices.ts';
import { streamInfo } from '../../../../support/parts/stream.ts';
import { hosts, balancer, choose } from './hashed-hosts.ts';

/** The same request goes to the same host behind Sluice and behind Envoy. */

const WEIGHTS = { equal: [1, 1, 1, 1, 1], weighted: [1, 2, 3, 5, 9] } as const;

const KEYS = Array.from({ length: 1000 }, (_, at) => `key-${at}-${'x'.repeat(at % 40)}`);

function digitOf(chosen: UpstreamHost | undefined): string {
  return chosen === undefined ? '-' : String(Number(chosen.ip.slice(-1)) - 2);
}

const RING = {
  minRingSize: 1024,
  maxRingSize: 8_388_608,
  hashFunction: 'XX_HASH',
  usesHostname: false,
} as const;

const POLICIES = {
  ring: { kind: 'ring_hash', options: RING },
  murmur: {
    kind: 'ring_hash',
    options: { ...RING, minRingSize: 100, hashFunction: 'MURMUR_HASH_2' },
  },
  maglev: { kind: 'maglev' },
} as const;

describe('a policy that hashes', () => {
  it('hashes what it names itself, whatever routes say', () => {
    const hashPolicies = [{ kind: 'header', name: 'x-key', terminal: false }] as const;
    const [own, routes] = [
      balancer({ ...POLICIES.maglev, hashPolicies }),
      balancer(POLICIES.maglev),
    ];
    const known = hosts(WEIGHTS.equal);
    updateBalancer(own, known, 140);
    updateBalancer(routes, known, 140);
    for (const key of KEYS.slice(0, 50)) {
      const requestHeaders = new HeaderMap();
      requestHeaders.add('x-key', key);
      const chosen = own.choose(
        {
          requestHeaders,
          computeHash: (hashOf) => hashOf?.(requestHeaders, streamInfo(), () => undefined),
          maxHostDraws: 0,
          refusesHost: () => false,
        },
        0,
      );
      assert.equal(chosen, choose(routes, xxHash64(key)));
    }
  });
});

describe('the choice by hash equals the one of Envoy', () => {
  for (const policy of ['ring', 'murmur', 'maglev'] as const) {
    for (const weights of ['equal', 'weighted'] as const) {
      it(`with ${policy} over ${weights} hosts`, () => {
        const chooser = balancer(POLICIES[policy]);
        // Neither table may depend on the order in which hosts come.
        const known = hosts(WEIGHTS[weights]);
        updateBalancer(chooser, policy === 'maglev' ? known.toReversed() : known, 140);
        const choices = KEYS.map((key) => digitOf(choose(chooser, xxHash64(key)))).join('');
        assert.equal(choices, HASH_CHOICES[`${policy}_${weights}`]);
      });
    }
  }

  it('with several hash policies', () => {
    const policies: readonly HashPolicy[] = [
      { kind: 'header', name: 'x-key', terminal: false },
      { kind: 'cookie', name: 'sid', path: '', attributes: [], terminal: false },
      { kind: 'query_parameter', name: 'q', terminal: false },
      { kind: 'source_ip', terminal: false },
    ];
    const hashOf = compileHashPolicies(policies);
    const chooser = balancer(POLICIES.ring);
    updateBalancer(chooser, hosts(WEIGHTS.equal), 140);
    const choices = KEYS.slice(0, 200).map((key) => {
      const headers = new HeaderMap();
      headers.path = `/combo/a?z=1&q=${key.split('').toReversed().join('')}`;
      headers.add('x-key', key);
      headers.add('cookie', `a=b; sid="${key}s"`);
      const info = streamInfo(headers);
      const { downstreamRemoteAddress } = info;
      info.downstreamRemoteAddress = { ...downstreamRemoteAddress, kind: 'ip', ip: '127.0.0.1' };
      return digitOf(
        choose(
          chooser,
          hashOf?.(headers, info, () => undefined),
        ),
      );
    });
    assert.equal(choices.join(''), HASH_CHOICES.combo);
  });
});
