/**
 * The entry of a worker process. It takes the signals of its process group before anything else is
 * loaded (only messages command a worker), then loads the rest.
 */
import { join } from 'node:path';
import { loadPackedProgram } from '../../shared/process/packed-program.ts';
import { takeGroupSignals } from '../../shared/process/signals.ts';
import type * as Program from './run-worker.ts';

/** The packed run-worker.ts, beside this file; the build states its name. */
declare const PACKED_FILE: string;

takeGroupSignals(() => undefined);
const program = loadPackedProgram<typeof Program>(join(import.meta.dirname, PACKED_FILE));
void program.runWorker();
