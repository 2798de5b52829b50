/** What of many things is still there once nobody but a leak holds them. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How many of these V8 keeps after all garbage is collected. */
export async function stillThere(things: readonly WeakRef<object>[]): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What a turn of the loop has looked at stays until its end.
  await setImmediate();
  collect();
  await setImmediate();
  collect();
  return things.filter((thing) => thing.deref() !== undefined).length;
}
