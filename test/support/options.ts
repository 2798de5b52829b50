/** The options of a server from a command line, without a machine behind them. */
import assert from 'node:assert/strict';
import type { Options } from '../../shared/process/options.ts';
import { parseOptions, type CommandLineContext } from '../../src/options/parse-options.ts';

export const COMMAND_LINE_CONTEXT: CommandLineContext = {
  program: 'sluice',
  version: 'abc/1.2.3/Clean/RELEASE/OpenSSL',
  hotRestartVersion: '11.104',
  host: { hardwareThreads: () => 8, assignedCpus: () => 3 },
};

/** Fails the test when the words are refused. */
export function optionsOf(...argv: readonly string[]): Options {
  const parsed = parseOptions(argv, COMMAND_LINE_CONTEXT);
  if (parsed.kind === 'exit') assert.fail(parsed.text);
  return parsed.options;
}
