import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';

import { makeScratch } from '../../support/scratch.ts';

const crashMain = join(import.meta.dirname, '..', '..', 'support', 'programs', 'crash-main.js');

it(
  'core dumps, when enabled, have the highest limit allowed, and an uncaught exception aborts',
  { skip: process.platform !== 'linux' },
  () => {
    using scratch = makeScratch();
    const run = spawnSync(process.execPath, [crashMain], { cwd: scratch.path, encoding: 'utf8' });
    const words = run.stdout.trim().split(/\s+/);
    const [soft, hard] = words.slice(-3);
    assert.equal(soft, hard);
    assert.equal(words[0], String(hard !== '0'));
    assert.equal(run.signal, 'SIGABRT');
    assert.match(run.stderr, /\[critical\]\[assert\] .* Error: nothing catches this\n/);
  },
);
