/**
 * How long does it take from exec to LIVE, with two workers and a small bootstrap? Prints the
 * median and the spread of ten starts. Run it on an idle machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { smallBootstrap } from './support/small-bootstrap.ts';

const STARTS = 10;
const LIMIT_MS = 400;
const main = join(import.meta.dirname, '..', '..', 'src', 'main.js');

const folder = mkdtempSync(join(tmpdir(), 'sluice-startup-'));
const config = join(folder, 'bootstrap.yaml');
writeFileSync(config, smallBootstrap());
try {
  const times: number[] = [];
  for (let count = 0; count < STARTS; count += 1) times.push(await timeOneStart());
  times.sort((a, b) => a - b);
  const median = ((times[STARTS / 2 - 1] ?? 0) + (times[STARTS / 2] ?? 0)) / 2;
  const [fastest = 0] = times;
  console.log(
    `exec to LIVE, 2 workers, ${STARTS} starts: median ${median.toFixed(0)} ms ` +
      `(${fastest.toFixed(0)} to ${(times.at(-1) ?? 0).toFixed(0)}); wanted: below ${LIMIT_MS} ms`,
  );
} finally {
  rmSync(folder, { recursive: true });
}

/** Milliseconds until the log says that the main loop runs: the server is LIVE then. */
async function timeOneStart(): Promise<number> {
  const begin = performance.now();
  const words = ['-c', config, '--concurrency', '2', '--disable-hot-restart'];
  const child = spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
  const closed = once(child, 'close');
  let log = '';
  const tookMs = await new Promise<number>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('starting main dispatch loop')) resolve(performance.now() - begin);
    });
    child.once('exit', () => reject(new Error(`the server ended:\n${log}`)));
  });
  child.kill('SIGTERM');
  await closed;
  return tookMs;
}
