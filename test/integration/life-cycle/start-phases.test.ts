/** At level debug the log tells where the time of a start goes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { bootstrap } from '../../support/parts/bootstrap.ts';
import { MAIN, startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const STEPS = [
  /the configuration is read after (\d+) ms/,
  /phase loading -> warming after (\d+) ms/,
  /phase warming -> initializing after (\d+) ms/,
  /worker 0 \(pid \d+\) is warmed up and set up after (\d+) ms/,
  /phase initializing -> live after (\d+) ms/,
];

it('each step of a start is written with the age of the process, in order', async () => {
  await using sluice = await startSluice({ bootstrap: bootstrap({}), args: ['-l', 'debug'] });
  await waitUntil('the end of the start', () => sluice.stderr().includes('main dispatch loop'));
  const log = sluice.stderr();
  const ages = STEPS.map((step) => Number(step.exec(log)?.[1]));
  assert.ok(
    ages.every((age) => age > 0 && age < 60_000),
    `${ages.join(' ')}\n${log}`,
  );
  assert.deepEqual(
    ages,
    ages.toSorted((a, b) => a - b),
  );
  assert.match(log, /worker 0 \(pid \d+\) has loaded itself after \d+ ms/);
});

it('entries name the line of source that wrote them, also from packed files', async () => {
  await using sluice = await startSluice({ bootstrap: bootstrap({}), args: ['-l', 'debug'] });
  await waitUntil('the end of the start', () => sluice.stderr().includes('main dispatch loop'));
  const WRITES =
    /\[((?:supervisor|workers)\/[\w/-]+\.ts):(\d+)\] (starting main dispatch|admin address|initializing epoch|Node\.js v)/g;
  const named = [...sluice.stderr().matchAll(WRITES)];
  assert.equal(new Set(named.map(([, , , text]) => text)).size, 4, sluice.stderr());
  for (const [, file = '', line, text = ''] of named) {
    const source = readFileSync(join(MAIN, '..', '..', '..', file), 'utf8').split('\n');
    // A worker's component log writes for others.
    const wanted = text.startsWith('Node') ? 'logger.log' : /log\.|\.log\(/;
    assert.match(source[Number(line) - 1] ?? '', new RegExp(wanted), `${file}:${line}`);
  }
});
