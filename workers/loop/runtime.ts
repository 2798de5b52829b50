/**
 * What the data path asks of the runtime: values that an operator may change while Sluice runs,
 * each with the configured default.
 */
import type { RuntimeFraction } from '../../shared/resources/routes/matchers.ts';
import type { RuntimeSnapshot } from '../../shared/resources/runtime.ts';
import { isDrawn } from '../../shared/runtime/draw.ts';

export interface Runtime {
  /** The values in force; another map after every change. */
  readonly snapshot: RuntimeSnapshot;
  /** Random numbers from 0 to 2^32 - 1. */
  random(): number;
}

/** The runtime of a worker; `snapshot` is replaced when the supervisor sends new values. */
export class WorkerRuntime implements Runtime {
  snapshot: RuntimeSnapshot = new Map();

  random(): number {
    return Math.floor(Math.random() * 0x1_0000_0000);
  }
}

/** Whether a share of requests takes in the one with this random number. */
export function isEnabled(fraction: RuntimeFraction, runtime: Runtime, random: number): boolean {
  return isDrawn(fraction, runtime.snapshot, random);
}
