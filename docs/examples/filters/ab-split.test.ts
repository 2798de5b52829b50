import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFilter } from 'sluice/testing';
import filter from './ab-split.ts';

async function split(percentB: number) {
  return await testFilter(filter, { settings: { name: 'cart', percentB } });
}

test('chooses once and stays with the choice', async () => {
  const tested = await split(100);
  const first = await tested.send();
  assert.equal(first.upstream?.headers.get('x-variant'), 'b');
  assert.equal(first.headers.get('set-cookie'), 'cart=b; Path=/; HttpOnly');
  const later = await tested.send({ headers: { cookie: 'x=1; cart=a' } });
  assert.equal(later.upstream?.headers.get('x-variant'), 'a');
  assert.equal(later.headers.get('set-cookie'), undefined);
  assert.deepEqual([tested.stat('a'), tested.stat('b')], [1, 1]);
});

test('gives nobody what has no share, and refuses more than all', async () => {
  const { upstream } = await (await split(0)).send();
  assert.equal(upstream?.headers.get('x-variant'), 'a');
  await assert.rejects(split(101), /between 0 and 100/);
});
