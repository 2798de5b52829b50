/** What is still there once nobody but a leak holds it. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What the program's objects take after all garbage is collected, with their bytes outside of V8. */
export async function heldBytes(): Promise<number> {
  await collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** How many of these V8 keeps after all garbage is collected. */
export async function stillThere(things: readonly WeakRef<object>[]): Promise<number> {
  await collectGarbage();
  return things.filter((thing) => thing.deref() !== undefined).length;
}

/** Bytes by which the heap grows where only its young objects are collected, every 500 rounds. */
export function grownBySmallCollections(rounds: number, round: () => void): number {
  const collect = collector();
  const before = usedAfter(() => collect());
  for (let at = 1; at <= rounds; at++) {
    round();
    if (at % 500 === 0) collect({ type: 'minor' });
  }
  return usedAfter(() => collect({ type: 'minor' })) - before;
}

function usedAfter(collect: () => void): number {
  collect();
  return process.memoryUsage().heapUsed;
}

type Collector = (options?: { readonly type: 'minor' }) => void;

function collector(): Collector {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collector;
}

async function collectGarbage(): Promise<void> {
  const collect = collector();
  // What a turn of the loop has looked at stays until its end.
  await setImmediate();
  collect();
  await setImmediate();
  collect();
}
