/** Workers are made before anybody knows whether there will be a server, and of how many workers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap } from '../../support/parts/bootstrap.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const environmentOf = (pid: number): string => readFileSync(`/proc/${pid}/environ`, 'latin1');

describe('workers that are made before the command line is read', () => {
  it('are as many as asked for in the end, however many were guessed', async () => {
    await using sluice = await startSluice({
      bootstrap: bootstrap({}),
      args: ['--service-node', '--concurrency=4'],
      concurrency: 2,
    });
    // Killed ones are reaped a little later.
    await waitUntil('two workers', () => childrenOf(sluice.pid).length === 2);
    const titles = childrenOf(sluice.pid).map((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'latin1'),
    );
    assert.deepEqual(
      new Set(titles.map((title) => /worker.(\d)/.exec(title)?.[1])),
      new Set(['0', '1']),
    );
    assert.doesNotMatch(sluice.stderr(), /ended unasked/);
  });

  it('end with a program that refuses its command line, whose output closes at once', async () => {
    const { code, stdout, stderr } = await runSluice([
      '-c',
      'no.yaml',
      '--concurrency',
      '2',
      '--no',
    ]);
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^PARSE ERROR: Argument: --no\n/);
  });

  it('do not read certificates that the environment names for the runtime', async () => {
    const path = '/etc/ssl/certs/ca-certificates.crt';
    await using sluice = await startSluice({
      bootstrap: bootstrap({}),
      env: { NODE_EXTRA_CA_CERTS: path },
    });
    assert.match(environmentOf(sluice.pid), /NODE_EXTRA_CA_CERTS=/);
    for (const pid of childrenOf(sluice.pid)) {
      assert.doesNotMatch(environmentOf(pid), /NODE_EXTRA_CA_CERTS=/);
    }
  });
});
