/**
 * `sluice` from its command line to its exit code: reads the options, starts the log, and runs the
 * mode that was asked for. What a server does is the supervisor's.
 */
import type { Options } from '../shared/process/options.ts';
import { closeUnaskedInspector, type SignalInbox } from '../shared/process/signals.ts';
import { enableCoreDumps } from '../shared/process/core-dumps.ts';
import { exitProcess } from '../shared/process/exit.ts';
import { logCrashes } from '../shared/process/log-crashes.ts';
import { logSettings } from '../shared/logging/log-settings.ts';
import { LogFileError } from '../shared/logging/line-output.ts';
import { configureLogging, getLogger } from '../shared/logging/process-log.ts';
import { EarlyWorkers } from '../supervisor/processes/early-workers.ts';
import { findCommand, runCommand } from './commands/commands.ts';
import { commandLineReport } from './options/command-line-report.ts';
import { commandLineContext } from './options/command-line-context.ts';
import { parseOptions } from './options/parse-options.ts';

const configLog = getLogger('config');

/** Never returns while the server runs; the process ends from here with the right code. */
export async function runProgram(
  argv: readonly string[],
  signals: SignalInbox,
  early = new EarlyWorkers(0),
): Promise<void> {
  closeUnaskedInspector();
  const words = await afterCommand(argv, signals);
  const context = commandLineContext();
  const parsed = parseOptions(words, context);
  if (parsed.kind === 'exit') {
    const stream = parsed.stream === 'stdout' ? process.stdout : process.stderr;
    stream.write(parsed.text);
    exitProcess(parsed.exitCode);
  }
  const options = effectiveOptions(parsed.options);
  startLog(options);
  if (options.enableCoreDump) enableCoreDumps();
  else logCrashes(options.logPath);
  for (const warning of parsed.warnings) configLog.warning(warning);
  if (options.mode === 'validate') {
    const { validateConfiguration } =
      await import('../supervisor/validation/validate-configuration.ts');
    exitProcess(
      await validateConfiguration(options, (text) => {
        process.stdout.write(text);
      }),
    );
  }
  const { serve } = await import('../supervisor/server/serve.ts');
  exitProcess(
    await serve({
      options,
      commandLine: commandLineReport(options),
      version: context.version,
      hotRestartVersion: options.disableHotRestart ? 'disabled' : context.hotRestartVersion,
      signals,
      early,
    }),
  );
}

/** The command line of a server: these very words, or what a command makes of them. */
async function afterCommand(
  argv: readonly string[],
  signals: SignalInbox,
): Promise<readonly string[]> {
  const command = findCommand(argv);
  if (command === undefined) return argv;
  signals.deliverTo(() => exitProcess(1));
  const end = await runCommand(command, argv.slice(1), {
    out: (text) => void process.stdout.write(text),
    error: (text) => void process.stderr.write(text),
  });
  return typeof end === 'number' ? exitProcess(end) : end.serve;
}

/** Validation opens no log file: it answers on standard error. */
function effectiveOptions(options: Options): Options {
  return options.mode === 'validate' ? { ...options, logPath: '' } : options;
}

function startLog(options: Options): void {
  try {
    configureLogging(logSettings(options));
  } catch (error) {
    if (error instanceof LogFileError) failStart(error.message);
    throw error;
  }
}

function failStart(text: string): never {
  process.stderr.write(`${text}\n`);
  exitProcess(1);
}
