/** Runs clients by name and prints what each came to. */
import type { Outcome } from './outcome.ts';

/** Without names all run; a failure becomes the process's. */
export async function printOutcomes(
  clients: Readonly<Record<string, () => Outcome | Promise<Outcome>>>,
  wanted: readonly string[],
): Promise<void> {
  for (const [name, run] of Object.entries(clients)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const { client, result, detail } = await run();
    console.log(`${result.padEnd(9)} ${client}${detail === '' ? '' : `\n${detail}`}`);
    if (result === 'failed') process.exitCode = 1;
  }
}
