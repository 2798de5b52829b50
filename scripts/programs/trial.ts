/** What the trials with real programs have in common. */
import { spawn, spawnSync } from 'node:child_process';

export interface TrialOutcome {
  readonly result: 'passed' | 'left out';
  readonly detail: string;
}

export interface Trial {
  readonly name: string;
  /** Rejects with what went wrong. */
  run(): Promise<TrialOutcome>;
}

const LIMIT_MS = 120_000;

export function passed(detail: string): TrialOutcome {
  return { result: 'passed', detail };
}

/** A trial of a program that may not be installed. */
export function trialOf(program: string, name: string, run: () => Promise<TrialOutcome>): Trial {
  return trialOfAll([program], name, run);
}

/** A trial of programs of which some may not be installed. */
export function trialOfAll(
  programs: readonly string[],
  name: string,
  run: () => Promise<TrialOutcome>,
): Trial {
  return {
    name,
    run: async () => {
      const missing = programs.filter((program) => !isInstalled(program));
      if (missing.length === 0) return run();
      return { result: 'left out', detail: `not installed: ${missing.join(', ')}` };
    },
  };
}

function isInstalled(program: string): boolean {
  return spawnSync('which', [program]).status === 0;
}

/** Runs a program to its end; rejects with its output when it fails. */
export async function runProgram(
  command: string,
  args: readonly string[],
  {
    limitMs = LIMIT_MS,
    ...options
  }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly limitMs?: number } = {},
): Promise<string> {
  const child = spawn(command, args, { ...options, timeout: limitMs });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}: ${output.slice(-600)}`);
  return output;
}

/** Rejects with `what` unless it holds. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** The first match of `pattern`, with blanks made single. */
export function pick(text: string, pattern: RegExp): string {
  return (pattern.exec(text)?.[0] ?? '').replace(/\s+/g, ' ').trim();
}
