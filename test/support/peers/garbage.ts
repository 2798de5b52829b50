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

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What a turn of the loop has looked at stays until its end.
  await setImmediate();
  collect();
  await setImmediate();
  collect();
}
