/** What a worker counts of the bytes that it holds for its streams. */
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import { HELD_BYTES_CEILING, HeldBytes } from '../loop/held-bytes.ts';

/** The gauge is there once it is not zero. */
export function heldBytes({ stats }: DataPlaneEnv): HeldBytes {
  return new HeldBytes({
    ceilingBytes: HELD_BYTES_CEILING,
    tell: (change) => stats.add(stats.defineGauge('sluice.held_bytes'), change),
  });
}
