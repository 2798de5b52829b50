/** `sluice drain`, beside a running server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';

const direct = bootstrap({
  listeners: [httpListener(GREETING)],
});

describe('sluice drain', { concurrency: true }, () => {
  it('drains a server, shows progress and says what was cut', async () => {
    await using sluice = await startSluice({ bootstrap: direct });
    const client = await openRaw(await sluice.listenerPort('web'));
    const words = ['drain', '--admin', `127.0.0.1:${sluice.adminPort}`, '--max=1.5', '--exit'];
    const { code, stdout } = await runSluice(words);
    assert.equal(code, 0);
    assert.match(stdout, /^web: draining, 0 %, 1 open \(1 idle\), at most \d s left$/m);
    assert.match(stdout, /^OK\n1 connections were cut at the deadline$/m);
    await client.closed();
    assert.equal((await sluice.exited()).code, 0);
  });

  it('says what it cannot do and ends with 1', async () => {
    await using sluice = await startSluice({ bootstrap: direct });
    const admin = ['--admin', `127.0.0.1:${sluice.adminPort}`];
    const unknown = await runSluice(['drain', ...admin, '--listener', 'nothing']);
    assert.deepEqual([unknown.code, unknown.stderr], [1, 'sluice drain: no listener nothing\n']);
    const wrong = await runSluice(['drain', '--wrong']);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /^sluice drain: unknown word --wrong\nusage: sluice drain/);
  });
});
