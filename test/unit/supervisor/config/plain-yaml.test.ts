import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readPlainYaml } from '../../../../supervisor/config/source/plain-yaml.ts';
import { parseYaml } from '../../../../supervisor/config/source/yaml-source.ts';

const BASES = [
  `# c
admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}} # x
a:
- b: "x # y"
  c: 'it''s'
- d:
  - 1
  - - 2
    - 3
  e: [1, {a: b, "c":d}, 'x', "y\\n"]
- {a: 1,
   b: ::1}
f:   # comment
  g: h i j
  k: true
l: ~
m:
n:
  o: 0x1F
"p q" : r
s: http://x:80/a#b
`,
  `---
x: {a: [b, c], d: {}, e: []}
y:
  - a
  # c
  -   b: 1
      c: 2
  -
    d: 3
  - e
z: -1`,
  '{"a": {"b": [1, 2.5, "x\\"y", true, null]},\n "c": {}\n}\n',
];

/** What a typing mistake or another way of writing puts in. */
const INSERTS = (
  ' §\n§  §:§: §- §-§#§ #§"§\'§{§}§[§]§,§~§\n  §\n- §a§?§&a §*a§!t §|§>§---\n§...§\\§%§@§`' +
  '§  - §\n    §x: y§\t§\r\n§<<: §\u00e9§\ufeff§- -'
).split('§');

/** The library refuses what Envoy takes as a text. */
const LONE_DASH = 'Block collections are not allowed within flow collections';

interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly inserted: string;
}

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.integer({ min: 0, max: 3 }),
  inserted: fc.constantFrom('', ...INSERTS),
});

function edited(text: string, edits: readonly Edit[]): string {
  return edits.reduce((before, { at, removed, inserted }) => {
    const offset = Math.floor(at * before.length);
    return before.slice(0, offset) + inserted + before.slice(offset + removed);
  }, text);
}

describe('The quick reading of YAML', () => {
  it('is used for what configurations are usually written in', () => {
    for (const base of BASES) assert.ok(readPlainYaml(base) !== undefined);
  });

  it('leaves what is unusual to the library', () => {
    const texts = (
      '§a§- a§a: &x b§a: *x§a: !t b§a: |\n  b§a: >\n  b§a: b\n  c§? a\n: b§a: b\n---\nc: d' +
      '§a: "b\n  c"§a:\tb§a: b\r\n§%YAML 1.1\n---\na: b§a: 1\na: 2§{a: 1, a: 2}§a: [b: c]§a: [b' +
      '§a: "\\x41"§a: b: c§{[a]: b}'
    ).split('§');
    for (const text of texts) {
      assert.equal(readPlainYaml(text), undefined, JSON.stringify(text));
    }
  });

  it('gives the same tree and the same positions as the library, or none', () => {
    let count = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...BASES),
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        (base, edits) => {
          const text = edited(base, edits);
          const root = readPlainYaml(text);
          if (root === undefined) return;
          const byLibrary = parseYaml(text);
          if (byLibrary.problems.some(({ message }) => message.startsWith(LONE_DASH))) return;
          count += 1;
          assert.deepEqual(byLibrary, { root, problems: [] });
        },
      ),
      { numRuns: 3000, seed: 20261121 },
    );
    assert.ok(count > 300, `${count}`);
  });

  it('takes a lone dash in a flow collection as a text', () => {
    const root = readPlainYaml('node: {id: -}');
    assert.ok(root?.kind === 'map');
    const [node] = root.entries;
    assert.ok(node?.value.kind === 'map');
    assert.deepEqual(node.value.entries[0]?.value, { kind: 'string', value: '-', offset: 11 });
  });

  it('ends on deep nesting', () => {
    assert.equal(readPlainYaml(`a: ${'['.repeat(5000)}`), undefined);
    assert.equal(readPlainYaml(`${'- '.repeat(5000)}a`), undefined);
  });
});
