import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFilter } from 'sluice/testing';
import filter from './canary.ts';

test('marks who asks for it and a share of the others, and counts both', async () => {
  const tested = await testFilter(filter, {
    settings: { percent: 30 },
    upstream: ({ headers }) => ({ status: headers.get('x-canary') === 'always' ? 500 : 200 }),
  });
  await tested.send({ headers: { 'x-canary': 'always' } });
  await tested.send({ headers: { 'x-canary': 'never' } });
  for (let user = 0; user < 300; user++) await tested.send({ headers: { 'x-user': `u${user}` } });
  const inCanary = tested.stat('canary.requests');
  assert.ok(inCanary > 60 && inCanary < 120, `${inCanary}`);
  assert.equal(tested.stat('stable.requests'), 302 - inCanary);
  assert.deepEqual([tested.stat('canary.errors'), tested.stat('stable.errors')], [inCanary, 0]);
  assert.equal(tested.histogram('canary.duration_ms').length, inCanary);
});
