import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { testFilter } from 'sluice/testing';
import filter from './sign-requests.ts';

const settings = { key: 'secret', keyId: 'one' };

function expected(method: string, path: string, seconds: string, body: string): string {
  const digest = createHash('sha256').update(body).digest('hex');
  const text = `${method}\n${path}\n${seconds}\n${digest}`;
  return createHmac('sha256', 'secret').update(text).digest('hex');
}

test('signs requests with and without a body', async () => {
  const tested = await testFilter(filter, { settings });
  for (const body of ['', 'hello']) {
    const method = body === '' ? 'GET' : 'POST';
    const { upstream } = await tested.send({ method, path: '/a?b', body });
    const signature = upstream?.headers.get('x-signature') ?? '';
    const [, seconds = '', v1] = /^keyId=one,t=(\d+),v1=(\w+)$/.exec(signature) ?? [];
    assert.equal(v1, expected(method, '/a?b', seconds, body));
    assert.equal(upstream?.text(), body);
  }
});

test('refuses settings without a key', async () => {
  await assert.rejects(testFilter(filter, { settings: { keyId: 'one' } }), /must be a string/);
});
