import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFilter } from 'sluice/testing';
import filter from './json-body.ts';

const json = { 'content-type': 'application/json' };
const settings = { rename: { user_name: 'userName' }, hide: ['password'] };

test('renames members of requests and hides members of responses', async () => {
  const tested = await testFilter(filter, {
    settings,
    upstream: () => ({ headers: json, body: ['{"id":1,', '"password":"x"}'] }),
  });
  const result = await tested.send({ headers: json, body: '{"user_name":"a","b":[1]}' });
  assert.deepEqual(result.upstream?.json(), { userName: 'a', b: [1] });
  assert.deepEqual(result.json(), { id: 1 });
  assert.equal(result.headers.get('content-length'), String(result.body.length));
});

test('leaves other bodies alone, and refuses what is no JSON', async () => {
  const tested = await testFilter(filter, { settings });
  assert.equal((await tested.send({ body: 'user_name' })).upstream?.text(), 'user_name');
  const refused = await tested.send({ headers: json, body: '{' });
  assert.deepEqual([refused.status, refused.upstream], [400, undefined]);
});
