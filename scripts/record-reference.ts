/**
 * Records what the reference (`envoy` on PATH) answers to the project's own conformance cases, into
 * test/conformance/golden/. Run it when a case is added; the recordings are reviewed and committed.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { factsOf, type RunningServer } from '../test/conformance/ask.ts';
import { cases } from '../test/conformance/cases/index.ts';
import { goldenPath } from '../test/conformance/golden.ts';
import { fetchOnce } from '../test/support/http-client.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { waitUntil } from '../test/support/wait.ts';

for (const conformanceCase of cases) {
  const facts = await factsOf(conformanceCase, startReference);
  const path = goldenPath(conformanceCase.name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(facts, null, 1)}\n`);
  console.log(`recorded ${conformanceCase.name}: ${Object.keys(facts).length} questions`);
}

async function startReference(bootstrap: object): Promise<RunningServer> {
  const scratch = makeScratch();
  const addressPath = scratch.file('admin.txt');
  writeFileSync(scratch.file('bootstrap.json'), JSON.stringify(bootstrap));
  const child = spawn(
    'envoy',
    [
      '-c',
      scratch.file('bootstrap.json'),
      '--disable-hot-restart',
      '--concurrency',
      '1',
      '-l',
      'error',
      '--admin-address-path',
      addressPath,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const adminPort = await waitUntil('the admin address', () =>
    existsSync(addressPath)
      ? Number(readFileSync(addressPath, 'utf8').split(':')[1]) || undefined
      : undefined,
  );
  await waitUntil('/ready', async () => {
    const answer = await fetchOnce({ port: adminPort, path: '/ready' }).catch(() => undefined);
    return answer?.status === 200;
  });
  return {
    adminPort,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      scratch[Symbol.dispose]();
    },
  };
}
