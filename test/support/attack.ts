/**
 * How much a generated attack tries. `npm test` runs each in its short form; `npm run test:attacks`
 * sets SLUICE_ATTACKS=long and runs them for about an hour. Both begin with the same seed, so a
 * failure is found again: SLUICE_ATTACK_SEED takes the seed that a failed run printed.
 */
import type { Parameters } from 'fast-check';

const isLong = process.env['SLUICE_ATTACKS'] === 'long';
const seed = Number(process.env['SLUICE_ATTACK_SEED'] ?? 20261122);

/** The number of cases to try in this run: `short` within `npm test`, `long` otherwise. */
export const attackRuns = (short: number, long: number): number => (isLong ? long : short);

/** The longest that one long attack goes on, so that all of them together take an hour at most. */
const LONG_MS = 45_000;

/**
 * Counts from 0 to as many cases as there are to try, and ends earlier where the long form of an
 * attack has taken its time.
 */
export function* attackTurns(short: number, long: number): Generator<number, void> {
  const end = isLong ? performance.now() + LONG_MS : Infinity;
  const count = attackRuns(short, long);
  for (let turn = 0; turn < count && performance.now() < end; turn++) yield turn;
}

/** What fast-check is told of such a run; it prints the seed and the path of a failure itself. */
export const attackParameters = (short: number, long: number): Parameters<unknown> => ({
  numRuns: attackRuns(short, long),
  seed,
  ...(isLong ? { interruptAfterTimeLimit: LONG_MS, markInterruptAsFailure: false } : {}),
});

/** Random numbers in [0, 1) that are the same in every run with the same seed (mulberry32). */
export const attackRandom = (salt = 0): (() => number) => {
  let state = (seed + salt) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
};
