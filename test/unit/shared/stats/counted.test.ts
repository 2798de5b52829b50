/**
 * Each statistic of the templates is counted by somebody, or says in its help that it never is and
 * why. Who counts it names it: `index.name`, `'name'`, or one of the names that are put together.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ALL_TEMPLATES } from '../../../../shared/stats/templates/all-templates.ts';

const FOLDERS = ['workers', 'supervisor', 'shared', 'src'];
/** A declaration: a line of a template or of a file that has one. */
const DECLARATION = /^ +'?[\w.]+'?: (?:counter|gauge|ownGauge|flag|histogram|textReadout)\(/;
const NEVER = /^(?:Never (?:counted|recorded)|Always 0): \w/;
/** Names that are put together, and the text that does it. */
const COMPOSED: readonly (readonly [RegExp, string])[] = [
  [/^ejections_detected_/, '`ejections_detected_${'],
  [/^ejections_enforced_/, '`ejections_enforced_${'],
  [/^streams_closed_\d+$/, '`streams_closed_${'],
  [/^shadow_(denied|error)$/, '`shadow_${'],
  [/^(request|response)_(enabled|enforced|pending|incoming|allowed|transfer)/, '#direction}_${'],
];

const root = process.cwd();
const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('generated'))
    .map((file) => readFileSync(join(root, folder, file), 'utf8')),
);
const code = sources
  .flatMap((text) => text.split('\n'))
  .filter((line) => !DECLARATION.test(line))
  .join('\n');
const words = new Set(code.match(/\w+/g));

function isNamed(name: string): boolean {
  const composed = COMPOSED.find(([names]) => names.test(name));
  if (composed !== undefined) return code.includes(composed[1]);
  // Names with dots may be put together from their parts.
  return words.has(name.split('.').at(-1) ?? '');
}

/** By its own name alone: other things may be called the same. */
function counts(name: string): boolean {
  const quoted = name.replaceAll('.', String.raw`\.`);
  return new RegExp(String.raw`\bindex\.${quoted}\b|\bcount\(\s*'${quoted}'`).test(code);
}

describe('statistics', () => {
  for (const { id, stats } of ALL_TEMPLATES) {
    it(`of ${id} are counted, or say that they are not`, () => {
      const silent = stats.filter(({ name, help }) => !isNamed(name) && !NEVER.test(help));
      assert.deepEqual(
        silent.map(({ name }) => name),
        [],
      );
    });
  }

  it('that say that they are not counted are counted nowhere', () => {
    const named = ALL_TEMPLATES.flatMap(({ id, stats }) =>
      stats
        .filter(({ name, help }) => NEVER.test(help) && counts(name))
        .map(({ name }) => `${id}: ${name}`),
    );
    assert.deepEqual(named, []);
  });
});
