/** A process that enables core dumps, shows its limit and then throws what nothing catches. */
import { readFileSync } from 'node:fs';

import { enableCoreDumps } from '../../../shared/process/core-dumps.ts';

const isEnabled = enableCoreDumps();
const limits = readFileSync('/proc/self/limits', 'utf8');
const line = limits.split('\n').find((text) => text.startsWith('Max core file size')) ?? '';
process.stdout.write(`${isEnabled} ${line}\n`, () => {
  throw new Error('nothing catches this');
});
