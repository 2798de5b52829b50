import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatPlace } from '../../../../supervisor/config/problem.ts';
import { errorsOf } from './resolve-text.ts';

const file = join(process.cwd(), 'test/unit/supervisor/resources/golden/rich-bootstrap.json');
const richBootstrap = readFileSync(file, 'utf8');

/** A tenth of SLUICE_FUZZ_RUNS, since each of them is large. */
const runs = Number(process.env['SLUICE_FUZZ_RUNS'] ?? 600) / 10;

type Json = { [key: string]: Json } | Json[] | string | number | boolean | null;
type Parent = { [key: string | number]: Json };

/** Every place of a document: what holds it, and under which key. */
function places(value: Json, found: [Parent, string][] = []): [Parent, string][] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    // A log file's path would be opened, and made.
    if (key !== 'path') found.push([value as Parent, key]);
    places((value as Parent)[key] ?? null, found);
  }
  return found;
}

const values: readonly Json[] = [
  '',
  '%',
  'a(',
  '-1s',
  '*',
  '\u0000',
  'é',
  0,
  -1,
  1e30,
  0.5,
  true,
  null,
  {},
  [],
  [{}],
  { a: 1 },
];

function damaged(seed: number): Json {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const document = JSON.parse(richBootstrap) as Json;
  for (let count = below(3); count >= 0; count--) {
    const all = places(document);
    const [parent, key] = all[below(all.length)]!;
    if (below(3) === 0) delete parent[key];
    else parent[key] = structuredClone(values[below(values.length)]!);
  }
  return document;
}

test('a bootstrap with everything that is supported has no error', async () => {
  assert.deepEqual(await errorsOf(JSON.parse(richBootstrap) as object), []);
});

test('a damaged bootstrap is refused with a place, or taken, and nothing is thrown', async () => {
  for (let seed = 1; seed <= runs; seed++) {
    const document = damaged(seed);
    if (typeof document !== 'object' || document === null) continue;
    for (const { place, message } of await errorsOf(document)) {
      assert.ok(message.length > 0, `seed ${seed}`);
      assert.equal(typeof formatPlace(place), 'string');
    }
  }
});
