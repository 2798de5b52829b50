/** Starts Envoy (`envoy` on PATH) with a bootstrap, for scripts that record what it does. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { RunningServer } from '../test/conformance/ask.ts';
import { fetchOnce } from '../test/support/peers/http-client.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { waitUntil } from '../test/support/wait.ts';

export async function startReference(bootstrap: object): Promise<RunningServer> {
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
