#!/usr/bin/env node
/**
 * The entry of `sluice`. It takes the signals of its process group before anything else is loaded,
 * keeps those that come meanwhile, then loads the program.
 */
import { SignalInbox } from '../shared/process/signals.ts';

const signals = new SignalInbox();
void import('./program.ts').then(async ({ runProgram }) =>
  runProgram(process.argv.slice(2), signals),
);
