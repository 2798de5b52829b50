import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RuntimeSnapshot } from '../../../../shared/resources/runtime.ts';
import { DropPolicy } from '../../../../supervisor/upstreams/hosts/drop-policy.ts';

const HALF = { category: 'c', share: 0.5 };

describe('the share of requests that a cluster drops', () => {
  it('comes into force with the first set of hosts, be it empty', () => {
    const policy = new DropPolicy(undefined, () => new Map());
    policy.plan(HALF);
    assert.equal(policy.present, undefined);
    policy.hostsSet(false);
    assert.equal(policy.present, HALF);
  });

  it('changes and goes away with a change of hosts only', () => {
    const policy = new DropPolicy(HALF, () => new Map());
    policy.hostsSet(true);
    policy.plan(undefined);
    policy.hostsSet(false);
    assert.equal(policy.present, HALF);
    assert.equal(policy.planned, undefined, 'what the admin pages show goes at once');
    policy.hostsSet(true);
    assert.equal(policy.present, undefined);
  });

  const limits = [
    { text: '20', number: 20, share: 0.2 },
    { text: '0', number: 0, share: undefined },
    { text: '70', number: 70, share: 0.5 },
    { text: '101', number: 101, share: 0.5 },
  ];
  for (const { text, number, share } of limits) {
    it(`of one half is ${share ?? 'none'} with a limit of ${text} percent`, () => {
      const runtime: RuntimeSnapshot = new Map([
        ['load_balancing_policy.drop_overload_limit', { text, number }],
      ]);
      assert.equal(new DropPolicy(HALF, () => runtime).present?.share, share);
    });
  }
});
