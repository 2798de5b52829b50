/** When a new worker collects what its start left behind. */
import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { describe, it } from 'node:test';
import { bootstrap, GREETING, httpListener } from '../../support/parts/bootstrap.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

/** Each collection of a worker as a line: `collected at <ms since 1970>`. */
const OBSERVED =
  "if (process.argv.some((word) => word.startsWith('--worker='))) {" +
  "  const { PerformanceObserver } = await import('node:perf_hooks');" +
  '  new PerformanceObserver((list) => {' +
  '    for (const { startTime } of list.getEntries())' +
  "      process.stdout.write('collected at ' + (performance.timeOrigin + startTime) + '\\n');" +
  "  }).observe({ entryTypes: ['gc'] });" +
  '}';
const REQUESTS = 40;

const now = (): number => performance.timeOrigin + performance.now();

describe('the collection of what a start left behind', () => {
  it('comes before the requests, and none while the first of them are served', async () => {
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [httpListener(GREETING)] }),
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(OBSERVED)}` },
    });
    const collections = (): readonly number[] =>
      [...sluice.stdout().matchAll(/collected at (\S+)\n/g)].map(([, at]) => Number(at));
    const port = await sluice.listenerPort('web');
    const began = now();
    await waitUntil('the collection of the start', () => collections().length > 0);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; count < REQUESTS; count += 1) await ask(port, agent);
    const ended = now();
    agent.destroy();
    await sluice.stop();
    assert.deepEqual(
      collections().filter((at) => at > began && at < ended),
      [],
    );
  });
});

async function ask(port: number, agent: Agent): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const asked = get({ port, host: '127.0.0.1', agent }, (response) => {
      response.resume().on('end', resolve);
    });
    asked.on('error', reject);
  });
}
