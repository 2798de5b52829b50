import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baseBootstrap } from './base-bootstrap.ts';
import { errorsOf } from './resolve-text.ts';

/** A change of the base bootstrap, and what Envoy said of the result. */
interface RecordedCase {
  readonly title: string;
  /** Path and value; a third element `remove` takes the path away. */
  readonly patch: readonly (readonly [
    path: readonly (string | number)[],
    value: unknown,
    remove?: string,
  ])[];
  /** Null: accepted. A word in round brackets: refused by the message's own rules. */
  readonly reference: string | null;
}

const golden = join(process.cwd(), 'test/unit/supervisor/resources/golden/reference-verdicts.json');
const cases = JSON.parse(readFileSync(golden, 'utf8')) as RecordedCase[];

function patched({ patch }: RecordedCase): object {
  const bootstrap = baseBootstrap() as Record<string | number, unknown>;
  for (const [path, value, remove] of patch) {
    let at = bootstrap;
    for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
    const last = path.at(-1) ?? '';
    if (remove === undefined) at[last] = value;
    else delete at[last];
  }
  return bootstrap;
}

describe('a configuration that Envoy was asked about', () => {
  for (const recorded of cases) {
    const { title, reference } = recorded;
    it(`${reference === null ? 'is no error' : 'is refused in its words'}: ${title}`, async () => {
      const errors = await errorsOf(patched(recorded));
      if (reference === null) {
        // One thing that this build lacks can make others wrong.
        const isMistaken = errors.every(({ rule }) => rule !== 'unsupported');
        assert.deepEqual(isMistaken ? errors : [], []);
        return;
      }
      assert.notEqual(errors.length, 0);
      if (/^\(.*\)$/.test(reference)) return;
      // Envoy stops at its first mistake; what this build lacks is no mistake to it.
      const said = errors.flatMap(({ message, reference: words = '' }) => [message, words]);
      const isUnsupported = errors.some(({ rule }) => rule === 'unsupported');
      assert.ok(
        said.some((text) => text.startsWith(reference)) || isUnsupported,
        `expected: ${reference}\nsaid: ${said.join('\n')}`,
      );
    });
  }
});
