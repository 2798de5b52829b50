/** `sluice doctor`: whether a machine and a bootstrap are fit for a server, with causes and cures. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { logSettings } from '../../../shared/logging/log-settings.ts';
import { configureLogging } from '../../../shared/logging/process-log.ts';
import { systemClock } from '../../../shared/process/clock.ts';
import type { Options } from '../../../shared/process/options.ts';
import { loadConfiguration } from '../../../supervisor/start/load-configuration.ts';
import { findProblems } from '../../../supervisor/validation/find-problems.ts';
import { verdictOf } from '../../../supervisor/validation/verdict.ts';
import { commandLineContext } from '../../options/command-line-context.ts';
import { parseOptions } from '../../options/parse-options.ts';
import { fileLines } from '../check/check-report.ts';
import { type Command, type CommandOutput, usageError } from '../command.ts';
import { readWords } from '../words.ts';
import { baseIdFindings } from './base-id-checks.ts';
import { bootstrapFindings } from './bootstrap-checks.ts';
import { findingLines, type Finding } from './finding.ts';
import { hostFindings } from './host-checks.ts';

const WRONG_USE = 2;
const BASE_ID = /^\d{1,9}$/;

const VALUES = new Map([
  ['-c', 'config'],
  ['--config-path', 'config'],
  ['--base-id', 'base_id'],
  ['--socket-path', 'socket_path'],
  ['--admin-token-path', 'token_path'],
  ['--format', 'format'],
]);

export const doctorCommand: Command = {
  name: 'doctor',
  help: `usage: sluice doctor [-c FILE] [OPTIONS]

Looks whether this machine is fit for a server, and with -c whether it is for this bootstrap: descriptors, the
kernel's settings, limits of the control group, base ids and who uses them, ports and who listens on them, socket
paths, certificates near their end, the admin interface, the clock, names of hosts, what the bootstrap would lose.
Says a cause and a cure for each warning and error. Starts nothing and changes nothing.

  -c FILE               the bootstrap
  --base-id NUMBER      of the server (0)
  --socket-path PATH    of the server (@envoy_domain_socket)
  --admin-token-path FILE
                        the server gets this option: its admin interface is not open to everybody
  --format text|json    how findings are printed (text)

exit code: 0 nothing is wrong, 1 there is an error, 2 the words of the command are wrong, 3 there is a warning
`,
  async run(argv, output) {
    const words = readDoctorWords(argv);
    if (typeof words === 'string') {
      output.error(usageError(doctorCommand, words));
      return WRONG_USE;
    }
    return await examine(words, output);
  },
};

interface DoctorWords {
  readonly config: string | undefined;
  readonly baseId: number;
  readonly socketPath: string;
  readonly hasToken: boolean;
  readonly isJson: boolean;
}

function readDoctorWords(argv: readonly string[]): DoctorWords | string {
  const given = readWords(argv, { values: VALUES });
  if (typeof given === 'string') return given;
  const baseId = given.get('base_id') ?? '0';
  const format = given.get('format') ?? 'text';
  if (!BASE_ID.test(baseId)) return '--base-id needs a number';
  if (format !== 'text' && format !== 'json') return '--format is text or json';
  return {
    config: given.get('config'),
    baseId: Number(baseId),
    socketPath: given.get('socket_path') ?? '@envoy_domain_socket',
    hasToken: given.has('token_path'),
    isJson: format === 'json',
  };
}

async function examine(words: DoctorWords, output: CommandOutput): Promise<number> {
  const findings: Finding[] = [];
  for await (const finding of allFindings(words)) {
    findings.push(finding);
    if (!words.isJson) output.out(findingLines(finding));
  }
  if (words.isJson) output.out(`${JSON.stringify({ findings }, undefined, 1)}\n`);
  const has = (health: Finding['health']): boolean =>
    findings.some((each) => each.health === health);
  return has('error') ? 1 : has('warning') ? 3 : 0;
}

async function* allFindings(words: DoctorWords): AsyncGenerator<Finding> {
  const { config, baseId, socketPath, hasToken } = words;
  const now = systemClock.wallMs();
  yield* hostFindings(now, config === undefined ? [] : [config]);
  yield* baseIdFindings(socketPath, baseId);
  if (config === undefined) return;
  const options = optionsFor(config);
  if (typeof options === 'string') {
    yield { check: 'bootstrap', health: 'error', found: options.trim() };
    return;
  }
  configureLogging(logSettings(options));
  yield await bootstrapFinding(config, options);
  const bootstrap = await loadConfiguration(options, systemClock).then(
    (loaded) => loaded.bootstrap as unknown as JsonObject,
    () => undefined,
  );
  if (bootstrap !== undefined) yield* bootstrapFindings(bootstrap, { now, hasToken });
}

/** What the bootstrap would lose, as `sluice check` says it. */
async function bootstrapFinding(path: string, options: Options): Promise<Finding> {
  const check = 'bootstrap';
  const problems = await findProblems(options);
  const verdict = verdictOf(problems);
  if (verdict === 'ok') return { check, health: 'ok', found: `${path} is served as it stands` };
  const cause = fileLines({ path, verdict, problems }).trim();
  const cure = 'correct what is named, or leave it out; sluice features lists what is served';
  if (verdict === 'loses') {
    return { check, health: 'warning', found: `${path} loses something`, cause, cure };
  }
  return { check, health: 'error', found: `${path} is ${verdict}`, cause, cure };
}

function optionsFor(path: string): Options | string {
  const parsed = parseOptions(
    ['--mode', 'validate', '-l', 'off', '-c', path],
    commandLineContext(),
  );
  return parsed.kind === 'run' ? { ...parsed.options, logPath: '' } : parsed.text;
}
