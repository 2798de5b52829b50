/**
 * The chaos run in full: 60 s, two workers, each seed of the command line (1 without any).
 * Ends with 1 when a request waited too long, the truth was not known, or anything was left behind.
 */
import { CHAOS, runChaos } from '../test/support/chaos.ts';

const DURATION_MS = 60_000;
const given = process.argv.slice(2).map(Number);

for (const seed of given.length === 0 ? [1] : given) {
  const result = await runChaos(DURATION_MS, seed);
  const { late, left, learntMs } = result;
  process.stdout.write(`seed ${seed}: ${JSON.stringify(result)}\n`);
  const limitMs = CHAOS.checkIntervalMs + CHAOS.checkTimeoutMs + 600;
  const isGood = late.length === 0 && left.length === 0 && (learntMs ?? Infinity) < limitMs;
  if (!isGood) process.exitCode = 1;
}
