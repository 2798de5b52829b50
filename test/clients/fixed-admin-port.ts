/** Servers for clients that ask one admin port and no other. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { bootstrap } from '../support/parts/bootstrap.ts';
import type { Scratch } from '../support/scratch.ts';
import { MAIN } from '../support/programs/sluice.ts';
import { waitUntil } from '../support/wait.ts';

/** Whether nobody listens there. */
export async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
}

/** Resolves when the server is ready. */
export async function serveOn(
  adminPort: number,
  scratch: Scratch,
  listeners: readonly object[],
): Promise<AsyncDisposable> {
  const path = scratch.file(`fixed-${adminPort}.json`);
  const address = { socket_address: { address: '127.0.0.1', port_value: adminPort } };
  const parts = bootstrap({ listeners, clusters: [] });
  writeFileSync(path, JSON.stringify({ ...parts, admin: { address } }));
  const server = spawn(process.execPath, [MAIN, '-c', path, '--disable-hot-restart', '-l', 'off'], {
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await waitUntil('the server', async () => await isReady(adminPort), 20_000);
  return {
    [Symbol.asyncDispose]: async () => {
      server.kill('SIGKILL');
      await ended;
    },
  };
}

async function isReady(port: number): Promise<true | undefined> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/ready`)).ok ? true : undefined;
  } catch {
    return undefined;
  }
}
