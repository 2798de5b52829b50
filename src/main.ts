#!/usr/bin/env node
/**
 * The entry of `sluice`. It takes the signals of its process group before anything else is loaded,
 * keeps those that come meanwhile, makes the worker processes, widens the room for new objects, then
 * loads the program.
 */
import { join } from 'node:path';
import { loadPackedProgram } from '../shared/process/packed-program.ts';
import { SignalInbox } from '../shared/process/signals.ts';
import { widenYoungRoom } from '../shared/process/young-room.ts';
import { EarlyWorkers } from '../supervisor/processes/early-workers.ts';
import { likelyWorkers } from './options/likely-workers.ts';
import { platformRefusal } from './options/platform.ts';
import type * as Program from './program.ts';

/** The packed program.ts, beside this file; the build states its name. */
declare const PACKED_FILE: string;

const { platform, arch, versions } = process;
const refusal = platformRefusal({ platform, arch, version: versions.node });
if (refusal !== undefined) {
  process.stderr.write(refusal);
  process.exit(1);
}
const signals = new SignalInbox();
const words = process.argv.slice(2);
const early = new EarlyWorkers(likelyWorkers(words));
widenYoungRoom();
const program = loadPackedProgram<typeof Program>(join(import.meta.dirname, PACKED_FILE));
void program.runProgram(words, signals, early);
