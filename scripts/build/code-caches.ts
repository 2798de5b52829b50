/**
 * Runs the packed program once for long enough that it and its worker leave V8's compiled code
 * beside their packed files; not again while these stay the same.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const LIMIT_MS = 15_000;
const LOOK_MS = 50;
const ADMIN = 'admin: { address: { socket_address: { address: 127.0.0.1, port_value: 0 } } }';

/** A build without caches is whole, but slower at its start; a program that ends fails the build. */
export async function makeCodeCaches(projectRoot: string): Promise<void> {
  const folders = ['src', 'workers/process'].map((folder) => join(projectRoot, 'dist', folder));
  const isDone = (): boolean => folders.every(hasCache);
  if (isDone()) return;
  const main = join(projectRoot, 'dist', 'src', 'main.js');
  const words = ['--config-yaml', ADMIN, '--concurrency', '1', '--disable-hot-restart'];
  const child = spawn(process.execPath, [main, ...words, '--log-level', 'off'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const closed = once(child, 'close');
  const deadline = performance.now() + LIMIT_MS;
  while (!isDone() && child.exitCode === null && performance.now() < deadline) await delay(LOOK_MS);
  if (child.exitCode !== null) throw new Error(`the packed program ended: ${child.exitCode}`);
  child.kill('SIGTERM');
  await closed;
  if (!isDone()) console.warn('the build has no code caches: starts will compile');
}

function hasCache(folder: string): boolean {
  const own = `.cjs.${process.version}-${process.arch}.cache`;
  return readdirSync(folder).some((file) => file.endsWith(own));
}
