/** What two workers may take of one bandwidth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShareClaims } from '../../../../workers/filters/http/bandwidth-limit/share-claims.ts';
import { SharedCount } from '../../../../workers/loop/shared-count.ts';
import { sharedPages } from '../../../support/parts/shared-pages.ts';

function twoWorkers(): readonly [ShareClaims, ShareClaims] {
  const [one, other] = sharedPages(2).map((pages) => {
    const countOf = (tenant: string): SharedCount => new SharedCount(`tenant ${tenant}`, pages);
    const claims = new ShareClaims(new SharedCount('all', pages), countOf);
    claims.expect('heavy');
    claims.expect('light');
    return claims;
  });
  if (one === undefined || other === undefined) throw new Error('there are two');
  return [one, other];
}

const heavy = (bodies: number) => ({ tenant: 'heavy', weight: 6, bodies });
const light = (bodies: number) => ({ tenant: 'light', weight: 1, bodies });

test('a worker that waits alone may take all, and nothing when it waits no more', () => {
  const [one, other] = twoWorkers();
  assert.equal(one.claim([heavy(1), light(3)]), 1);
  assert.deepEqual([one.othersWait, other.othersWait], [false, true]);
  assert.equal(one.claim([]), 0);
  assert.equal(other.othersWait, false);
});

test('tenants in different workers share by weight', () => {
  const [one, other] = twoWorkers();
  one.claim([heavy(4)]);
  assert.equal(other.claim([light(4)]), 1 / 7);
  assert.equal(one.claim([heavy(4)]), 6 / 7);
});

test('a tenant in both workers has its weight once, by its bodies', () => {
  const [one, other] = twoWorkers();
  one.claim([heavy(3), light(1)]);
  other.claim([heavy(1)]);
  const parts = [one.claim([heavy(3), light(1)]), other.claim([heavy(1)])];
  assert.deepEqual(parts, [5.5 / 7, 1.5 / 7]);
});

test('tenants that clients name are weighed in each worker', () => {
  const [one, other] = twoWorkers();
  one.claim([{ tenant: 'mine', weight: 1, bodies: 2 }]);
  assert.equal(other.claim([{ tenant: 'mine', weight: 1, bodies: 1 }]), 1 / 2);
});
