/** The restarter's own command line; everything that is not its own goes to `sluice`. */
import { splitOption } from '../split-option.ts';

export interface RestarterArguments {
  readonly command: 'run' | 'status' | 'help';
  /** How long a new epoch may take to become live. */
  readonly startTimeoutMs: number;
  /**
   * The program to run and the words before its options; by default this package's own `sluice`.
   */
  readonly program: readonly string[] | undefined;
  readonly sluiceArguments: readonly string[];
  readonly baseId: number;
}

export const RESTARTER_HELP = `usage: sluice-restarter [--start-timeout-s SECONDS] [--program PATH] [SLUICE OPTIONS]
       sluice-restarter status [--base-id N]

Runs sluice --restart-epoch 0 with the options given and stays the main process while epochs change.

  SIGHUP            starts the next epoch; one that does not become live is ended and the old one stays
  SIGUSR1           reopens the log files of all live epochs
  SIGTERM, SIGINT   ends all epochs, the second time at once

  --start-timeout-s  seconds for a new epoch to become live (60)
  --program          another program to run than this package's sluice
  status             prints the epochs of the restarter with the same --base-id as JSON
`;

const START_TIMEOUT_S = 60;
/** Set by the restarter itself. */
const FORBIDDEN = ['--restart-epoch', '--use-dynamic-base-id', '--disable-hot-restart'];

/** Returns a text when the words cannot be used. */
export function parseRestarterArguments(words: readonly string[]): RestarterArguments | string {
  if (words.includes('--help') || words.includes('-h')) return argumentsOf('help', [], {});
  const isStatus = words[0] === 'status';
  const rest = isStatus ? words.slice(1) : words;
  const sluiceArguments: string[] = [];
  const own: OwnOptions = {};
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    const [name, inline] = splitOption(word);
    if (FORBIDDEN.includes(name)) return `${name} is not allowed: the restarter decides on epochs`;
    if (!OWN.includes(name)) {
      sluiceArguments.push(word);
      continue;
    }
    const refusal = takeOwn(own, name, inline ?? rest[++at]);
    if (refusal !== undefined) return refusal;
  }
  return argumentsOf(isStatus ? 'status' : 'run', sluiceArguments, own);
}

const OWN = ['--start-timeout-s', '--program'];

function takeOwn(own: OwnOptions, name: string, value: string | undefined): string | undefined {
  if (value === undefined) return `${name} needs a value`;
  if (name === '--program') own.program = value;
  else if (/^[1-9][0-9]{0,5}$/.test(value)) own.startTimeoutS = Number(value);
  else return `${name} needs a whole number of seconds, not '${value}'`;
  return undefined;
}

interface OwnOptions {
  program?: string;
  startTimeoutS?: number;
}

function argumentsOf(
  command: RestarterArguments['command'],
  sluiceArguments: readonly string[],
  own: OwnOptions,
): RestarterArguments {
  return {
    command,
    startTimeoutMs: (own.startTimeoutS ?? START_TIMEOUT_S) * 1000,
    program: own.program === undefined ? undefined : [own.program],
    sluiceArguments,
    baseId: baseIdOf(sluiceArguments),
  };
}

function baseIdOf(words: readonly string[]): number {
  for (const [index, word] of words.entries()) {
    if (word === '--') break;
    const [name, inline] = splitOption(word);
    if (name === '--base-id') return Number(inline ?? words[index + 1] ?? 0);
  }
  return 0;
}
