import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFilter } from 'sluice/testing';
import filter from './feature-flag.ts';

test('gives the flags of the cookie on that are known', async () => {
  const tested = await testFilter(filter, { settings: { known: ['new-cart', 'dark'] } });
  const send = async (cookie: string): Promise<string | undefined> => {
    const { upstream } = await tested.send({ headers: { cookie, 'x-flags': 'admin' } });
    return upstream?.headers.get('x-flags');
  };
  assert.equal(await send('a=b; flags=dark.new-cart; c=d'), 'dark,new-cart');
  assert.equal(await send('flags=admin.dark'), 'dark');
  assert.equal(await send('other=1'), undefined);
  assert.equal(tested.stat('unknown'), 1);
});
