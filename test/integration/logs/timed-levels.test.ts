/** Levels of loggers that go back by themselves, and loggers that a glob names. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bootstrap } from '../../support/parts/bootstrap.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

describe('levels with a time', () => {
  let sluice: Sluice;

  before(async () => {
    sluice = await startSluice({ bootstrap: bootstrap({ listeners: [], clusters: [] }) });
  });
  after(async () => {
    await sluice.stop();
  });

  const ask = async (query: string): Promise<{ status: number; body: string }> =>
    await sluice.admin({ method: 'POST', path: `/logging${query}` });
  const levelOf = async (name: string): Promise<string | undefined> =>
    new RegExp(`^  ${name}: (\\w+)$`, 'm').exec((await ask('')).body)?.[1];

  it('go back after it, however often they were changed meanwhile', async () => {
    assert.equal(await levelOf('http'), 'info');
    const { body } = await ask('?paths=http:debug&for=600');
    assert.match(body, /^levels go back in (600|599) s$/m);
    await ask('?level=trace&for=1');
    assert.equal(await levelOf('admin'), 'trace');
    await waitUntil(
      'the levels went back',
      async () => (await levelOf('admin')) === 'info' || undefined,
    );
    assert.equal(await levelOf('http'), 'info');
    assert.doesNotMatch((await ask('')).body, /go back/);
  });

  it('stay where a change without a time comes after', async () => {
    await ask('?paths=http:debug&for=600');
    await ask('?paths=admin:warning');
    assert.doesNotMatch((await ask('')).body, /go back/);
    assert.equal(await levelOf('http'), 'debug');
    await ask('?level=info');
  });

  it('are set for every logger that a glob means', async () => {
    await ask('?paths=http*:error,upstream:debug');
    assert.equal(await levelOf('http'), 'error');
    assert.equal(await levelOf('http2'), 'error');
    assert.equal(await levelOf('upstream'), 'debug');
    assert.equal(await levelOf('admin'), 'info');
    await ask('?level=info');
  });

  for (const query of ['?for=10', '?level=debug&for=0', '?level=debug&for=x', '?paths=zz*:debug']) {
    it(`are refused, and nothing changes: ${query}`, async () => {
      const { status } = await ask(query);
      assert.equal(status, 400);
      assert.equal(await levelOf('http'), 'info');
    });
  }
});
