import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFilter, type Upstream } from 'sluice/testing';
import filter from './token-exchange.ts';

const issuer: Upstream = (request) => {
  const subject = new URLSearchParams(request.text()).get('subject_token');
  if (subject === 'bad') return { status: 400 };
  return { body: JSON.stringify({ access_token: `for-${subject}`, expires_in: 60 }) };
};

test('asks the issuer once for each token', async () => {
  const tested = await testFilter(filter, {
    settings: { cluster: 'issuer', tokensMax: 2 },
    clusters: { issuer },
  });
  const send = async (token: string): Promise<string | undefined> => {
    const { upstream } = await tested.send({ headers: { authorization: `Bearer ${token}` } });
    return upstream?.headers.get('authorization');
  };
  for (const token of ['a', 'a', 'b', 'c', 'a'])
    assert.equal(await send(token), `Bearer for-${token}`);
  // There was no room for the first one any more.
  assert.deepEqual([tested.stat('hits'), tested.stat('misses')], [1, 4]);
});

test('refuses requests without a token, and tokens that the issuer refuses', async () => {
  const tested = await testFilter(filter, {
    settings: { cluster: 'issuer' },
    clusters: { issuer },
  });
  assert.equal((await tested.send()).status, 401);
  const refused = await tested.send({ headers: { authorization: 'Bearer bad' } });
  assert.deepEqual([refused.status, refused.upstream], [403, undefined]);
});
