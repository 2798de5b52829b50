/** Runs trials one after the other and says one line for each. */
import type { Trial } from './trial.ts';

/** Those whose name holds `wanted`. Resolves to the number of failures. */
export async function runTrials(trials: readonly Trial[], wanted: string): Promise<number> {
  let failures = 0;
  for (const trial of trials.filter(({ name }) => name.includes(wanted))) {
    const { name } = trial;
    try {
      const { result, detail } = await trial.run();
      console.log(`${result.padEnd(9)} ${name}: ${detail}`);
    } catch (error) {
      failures++;
      console.log(`failed    ${name}: ${String(error)}`);
    }
  }
  return failures;
}
