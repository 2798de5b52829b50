/**
 * Preloaded into every process of a measured server (`--import`): at SIGWINCH it collects all
 * garbage and writes what V8 then holds into the folder that its own address names as `?folder=`,
 * one file per process. Needs `--expose-gc`.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapSpaceStatistics } from 'node:v8';

/** In bytes. */
export interface ProcessMemory {
  readonly heapUsed: number;
  /** Reserved by V8 for its heap, used or not. */
  readonly heapTotal: number;
  /** The part of it that V8 keeps for new objects. */
  readonly young: number;
  /** Outside V8's heap and held by its objects; buffers are part of it. */
  readonly external: number;
}

const folder = new URL(import.meta.url).searchParams.get('folder');
if (folder !== null) {
  process.on('SIGWINCH', () => {
    // Buffers that the first one frees belong to objects that the second one finds.
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, heapTotal, external } = process.memoryUsage();
    const spaces = getHeapSpaceStatistics();
    const young = spaces.find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
    const path = join(folder, String(process.pid));
    writeFileSync(`${path}.part`, JSON.stringify({ heapUsed, heapTotal, young, external }));
    renameSync(`${path}.part`, `${path}.json`);
  });
}
