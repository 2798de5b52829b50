/**
 * The chaos run in full: 60 s, two workers, each seed of the command line (1 without any).
 * Ends with 1 when a request waited too long, the truth was not known, or anything was left behind.
 */
import { CHAOS, runChaos } from '../test/support/programs/chaos.ts';

const DURATION_MS = 60_000;
/** The growth of three processes in half of the time; their heaps have not settled by then. */
const GROWTH_MAX_KIB = 48 * 1024;
const given = process.argv.slice(2).map(Number);

for (const seed of given.length === 0 ? [1] : given) {
  const result = await runChaos(DURATION_MS, seed);
  const { late, left, leaks, grewKib, learntMs } = result;
  process.stdout.write(`seed ${seed}: ${JSON.stringify(result)}\n`);
  const limitMs = CHAOS.checkIntervalMs + CHAOS.checkTimeoutMs + 600;
  const leavesNothing = left.length === 0 && leaks.length === 0 && grewKib < GROWTH_MAX_KIB;
  const isGood = late.length === 0 && leavesNothing && (learntMs ?? Infinity) < limitMs;
  if (!isGood) process.exitCode = 1;
}
