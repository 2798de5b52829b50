/** What a worker knows of drains. */
import { DrainState } from '../listener/drain-state.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';

export function drainState({ heritage }: DataPlaneEnv, nowMs: () => number): DrainState {
  const { drainTimeS, drainIdleCloseMs: closeIdleAfterMs } = heritage;
  return new DrainState({ drainTimeS, closeIdleAfterMs, nowMs, random: Math.random });
}
