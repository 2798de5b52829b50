/** Starts the client of a constant rate on the load's core. */
import { join } from 'node:path';
import type { OpenLoopResult } from './open-loop-main.ts';
import { LOAD_CORE, runPinned } from './processes.ts';

const MAIN = join(import.meta.dirname, 'open-loop-main.js');

export async function runOpenLoop(
  port: number,
  rate: number,
  seconds: number,
): Promise<OpenLoopResult> {
  const words = [port, Math.round(rate), seconds].map(String);
  return JSON.parse(
    await runPinned(LOAD_CORE, [process.execPath, MAIN, ...words]),
  ) as OpenLoopResult;
}
