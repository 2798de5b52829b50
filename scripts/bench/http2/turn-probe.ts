/**
 * Preloaded into every process of a measured server (`--import`): from one SIGWINCH to the next it
 * measures each turn of the loop by the CPU time of its process, and writes the longest into the
 * folder that its own address names as `?folder=`, one file per process. The loop never sleeps
 * meanwhile: what a turn costs is measured so, and nothing else.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LoopTurns {
  /** Microseconds of CPU. */
  readonly longestUs: number;
}

const folder = new URL(import.meta.url).searchParams.get('folder');
if (folder !== null) {
  let isMeasuring = false;
  let longestUs = 0;
  let lastUs = 0;
  const turn = (): void => {
    const now = cpuUs();
    longestUs = Math.max(longestUs, now - lastUs);
    lastUs = now;
    if (isMeasuring) setImmediate(turn);
  };
  process.on('SIGWINCH', () => {
    isMeasuring = !isMeasuring;
    const path = join(folder, String(process.pid));
    if (isMeasuring) {
      longestUs = 0;
      lastUs = cpuUs();
      setImmediate(turn);
    }
    writeFileSync(`${path}.part`, JSON.stringify({ longestUs }));
    renameSync(`${path}.part`, `${path}.json`);
  });
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
