import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { LocalRateLimitOptions } from '../../../../shared/resources/filters/http/local-rate-limit.ts';
import type { RateLimitAction } from '../../../../shared/resources/routes/rate-limits.ts';
import { LimitBuckets } from '../../../../workers/filters/http/local-rate-limit/limit-buckets.ts';
import {
  compileDescriptors,
  type Descriptor,
} from '../../../../workers/filters/common/rate-limit-descriptors.ts';
import { OwnState, TokenBucket } from '../../../../workers/filters/common/token-bucket.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

const PLAIN = { disableKey: '', appliesWhenDone: false } as const;

function descriptorOf(
  actions: readonly RateLimitAction[],
  path = '/',
  headers: readonly (readonly [string, string])[] = [],
): string | undefined {
  const map = requestHeaders(path, headers);
  const info = streamInfo(map);
  info.upstreamCluster = 'up';
  info.dynamicMetadata = new Map([['ns', { k: 'mv' }]]);
  const [make] = compileDescriptors([{ ...PLAIN, stage: 0, actions }], 0, 'node');
  return make?.(map, info)
    ?.map(({ key, value }) => `${key}=${value}`)
    .join(' ');
}

// Recorded from Envoy 1.40.0.
describe('the descriptor of a request', () => {
  const header = { kind: 'request_header', name: 'x-k', key: 'k', skipIfAbsent: false } as const;
  const generic = {
    kind: 'generic_key',
    key: 'generic_key',
    format: 'gk',
    defaultValue: '',
  } as const;
  const match = {
    kind: 'match',
    key: 'query_match',
    format: 'qm',
    defaultValue: '',
    expected: true,
    headers: [],
    queryParameters: [{ name: 'a', present: true }],
  } as const;
  const metadata = {
    kind: 'metadata',
    key: 'md',
    source: 'dynamic',
    namespace: 'ns',
    path: ['k'],
    defaultValue: '',
    skipIfAbsent: false,
  } as const;

  it('has an entry for each action', () => {
    assert.equal(descriptorOf([header, generic], '/', [['x-k', 'v']]), 'k=v generic_key=gk');
    assert.equal(
      descriptorOf([{ kind: 'remote_address' }, { kind: 'destination_cluster' }]),
      'remote_address=127.0.0.1 destination_cluster=up',
    );
    assert.equal(
      descriptorOf([{ kind: 'masked_remote_address', v4: 8, v6: 64 }, { kind: 'source_cluster' }]),
      'masked_remote_address=127.0.0.0/8 source_cluster=node',
    );
    assert.equal(descriptorOf([metadata]), 'md=mv');
  });

  it('is not made where an action finds nothing, unless that entry may be left out', () => {
    assert.equal(descriptorOf([header, generic]), undefined);
    assert.equal(descriptorOf([{ ...header, skipIfAbsent: true }, generic]), 'generic_key=gk');
    assert.equal(descriptorOf([{ ...metadata, path: ['no'] }]), undefined);
    assert.equal(descriptorOf([{ ...metadata, path: ['no'], defaultValue: 'd' }]), 'md=d');
  });

  it('knows whether a request fits, or does not', () => {
    assert.equal(descriptorOf([match], '/?a=1'), 'query_match=qm');
    assert.equal(descriptorOf([match], '/'), undefined);
    assert.equal(descriptorOf([{ ...match, expected: false }], '/'), 'query_match=qm');
  });

  it('knows the ranges that a client may be in, or may not', () => {
    const here = [{ address: '127.0.0.0', prefixLength: 8 }];
    const elsewhere = [{ address: '10.0.0.0', prefixLength: 8 }];
    const by = (ranges: typeof here, isInverted: boolean): string | undefined =>
      descriptorOf([{ ...match, queryParameters: [], clients: { ranges, isInverted } }]);
    assert.equal(by(here, false), 'query_match=qm');
    assert.equal(by(elsewhere, false), undefined);
    assert.equal(by(here, true), undefined);
    assert.equal(by(elsewhere, true), 'query_match=qm');
  });

  it('counts at its own stage alone', () => {
    assert.deepEqual(compileDescriptors([{ ...PLAIN, stage: 1, actions: [generic] }], 0, ''), []);
    const skipped = { stage: 0, ...PLAIN, disableKey: 'off.key', actions: [generic] } as const;
    assert.deepEqual(compileDescriptors([skipped], 0, ''), []);
  });
});

describe('buckets by descriptor', () => {
  const bucket = (maxTokens: number) => ({
    maxTokens,
    tokensPerFill: 1,
    fillIntervalMs: 1_000_000,
    place: '',
  });
  const of = (value: string): Descriptor => [{ key: 'k', value }];
  const buckets = (alwaysTakesOwn: boolean, shadow: { readonly isShadow?: true } = {}) => {
    const descriptors = [{ entries: of('a'), bucket: bucket(2), ...shadow }];
    const options = { descriptors, alwaysTakesOwn } as unknown as LocalRateLimitOptions;
    return new LimitBuckets(bucket(1), options, {
      bucket: (each) => new TokenBucket(each),
      state: () => new OwnState(),
    });
  };

  it('give a token each, and the limit itself one more', () => {
    const both = buckets(true);
    const taken = [1, 2, 3].map(() => both.take([of('a')], 1).isAllowed);
    assert.deepEqual(taken, [true, false, false]);
    const apart = buckets(false);
    assert.deepEqual(
      [of('a'), of('a'), of('a')].map((one) => apart.take([one], 1).isAllowed),
      [true, true, false],
    );
    assert.equal(apart.take([of('other')], 1).isAllowed, true);
    assert.equal(apart.take([], 1).isAllowed, false);
  });

  // As Envoy's answers to the same requests.
  it('only say so where a descriptor is in shadow mode, until another limit refuses', () => {
    const apart = buckets(false, { isShadow: true });
    const taken = [1, 2, 3, 4].map(() => apart.take([of('a')], 1));
    assert.ok(taken.every(({ isAllowed }) => isAllowed));
    assert.deepEqual(
      taken.map(({ isShadowed }) => isShadowed),
      [false, false, true, true],
    );
    const both = buckets(true, { isShadow: true });
    const limited = [1, 2, 3].map(() => both.take([of('a')], 1));
    assert.deepEqual(
      limited.map(({ isAllowed, isShadowed }) => [isAllowed, isShadowed]),
      [
        [true, false],
        [false, false],
        [false, false],
      ],
    );
  });
});
