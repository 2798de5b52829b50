/** How many workers are made before the command line is read. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { it } from 'node:test';
import { likelyWorkers } from '../../../../src/options/likely-workers.ts';

const CPUS = availableParallelism();

const CASES: readonly (readonly [words: string, count: number])[] = [
  ['-c a.yaml', CPUS],
  ['--config-path a.yaml --concurrency 3', 3],
  ['--concurrency=5 --config-yaml {}', 5],
  ['-c a.yaml --concurrency 0', 1],
  ['-c a.yaml --concurrency', 0],
  ['-c a.yaml --concurrency=', 0],
  ['-c a.yaml --concurrency many', 0],
  ['-c a.yaml --concurrency -1', 0],
  ['-c a.yaml --concurrency 2 --mode validate', 0],
  ['-c a.yaml --mode=init_only', 0],
  ['--version -c a.yaml', 0],
  ['-c a.yaml --help', 0],
  ['-c a.yaml --hot-restart-version', 0],
  ['check a.yaml -c', 0],
  ['--concurrency 2', 0],
  ['', 0],
];

for (const [words, count] of CASES) {
  it(`'${words}' asks for ${count}`, () => {
    assert.equal(likelyWorkers(words === '' ? [] : words.split(' ')), count);
  });
}
