#!/usr/bin/env node
/**
 * Entry of `sluice-restarter`. Signal handlers come first: what arrives while the rest is loading
 * is kept and handed over.
 */
import { errorText } from '../shared/text/error-text.ts';
import type { Restarter, RestarterSignal } from './restarter/restarter.ts';

let restarter: Restarter | undefined;
const early: RestarterSignal[] = [];
for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (restarter === undefined) early.push(signal);
    else restarter.signal(signal);
  });
}

const { parseRestarterArguments, RESTARTER_HELP } = await import('./restarter/arguments.ts');
const args = parseRestarterArguments(process.argv.slice(2));
if (typeof args === 'string') {
  process.stderr.write(`sluice-restarter: ${args}\n${RESTARTER_HELP}`);
  process.exitCode = 1;
} else if (args.command === 'help') {
  process.stdout.write(RESTARTER_HELP);
} else {
  process.exitCode = await runCommand(args.command, args).catch((error: unknown) => {
    process.stderr.write(`sluice-restarter: ${errorText(error)}\n`);
    return 1;
  });
}

async function runCommand(
  command: 'run' | 'status',
  parsed: Exclude<typeof args, string>,
): Promise<number> {
  if (command === 'status') {
    const { askStatus } = await import('./restarter/control-socket.ts');
    process.stdout.write(await askStatus(parsed.baseId));
    return 0;
  }
  const { Restarter: RestarterClass } = await import('./restarter/restarter.ts');
  restarter = new RestarterClass(parsed);
  const ended = restarter.run();
  for (const signal of early) restarter.signal(signal);
  return ended;
}
