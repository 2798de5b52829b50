import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accept, errorsOf } from './load.ts';

/** A plain scalar in a Struct shows what the YAML reader makes of it. */
async function scalar(text: string): Promise<unknown> {
  const message = (await accept(`node: {metadata: {x: ${text}}}`)) as {
    node: { metadata?: { x?: unknown } };
  };
  return message.node.metadata?.x;
}

describe('YAML scalars follow Envoy', () => {
  const table: [text: string, value: unknown][] = [
    ['5', 5],
    ['"5"', '5'],
    ['+5', 5],
    ['-0x10', -16],
    ['0x10', 16],
    ['010', 8],
    ['00', 0],
    ['08', '08'],
    ['0o7', '0o7'],
    ['0b1', '0b1'],
    ['1_000', '1_000'],
    ['1:30', '1:30'],
    ['1.5', '1.5'],
    ['1e3', '1e3'],
    ['.inf', '.inf'],
    ['2147483647', 2147483647],
    ['4294967296', '4294967296'],
    ['9223372036854775808', '9223372036854775808'],
    ['yes', true],
    ['y', true],
    ['On', true],
    ['NO', false],
    ['off', false],
    ['yES', 'yES'],
    ['"yes"', 'yes'],
    ["'on'", 'on'],
    ['~', null],
    ['null', null],
    ['NULL', null],
    ['', null],
    ['nUll', 'nUll'],
    ['"null"', 'null'],
    ['2024-01-01', '2024-01-01'],
    ['!!str 5', 5],
    ['!!int "7"', 7],
    ['! 5', '5'],
    ['[1, a, {b: c}]', [1, 'a', { b: 'c' }]],
  ];
  for (const [text, value] of table) {
    it(`reads ${text === '' ? 'nothing' : text} as ${JSON.stringify(value)}`, async () => {
      assert.deepEqual(await scalar(text), value);
    });
  }
});

describe('YAML documents', () => {
  it('give what an alias refers to', async () => {
    const text = 'node: {id: a, !ignore x: &x {k: v}, metadata: *x}';
    assert.deepEqual(await accept(text), { node: { id: 'a', metadata: { k: 'v' } } });
  });

  it('keep << as an ordinary key of a Struct', async () => {
    const text = 'node: {!ignore x: &x {k: v}, metadata: {<<: *x, b: 1}}';
    assert.deepEqual(await accept(text), { node: { metadata: { '<<': { k: 'v' }, b: 1 } } });
  });

  it('say that a merge key is not followed in a message', async () => {
    assert.deepEqual(await errorsOf('!ignore t: &t {id: a}\nnode:\n  <<: *t\n'), [
      "test.yaml:3:3: node.<<: no such field: '<<' in envoy.config.core.v3.Node (YAML merge keys are not followed; write the fields out or use an alias)",
    ]);
  });

  it('are read up to the end of the first', async () => {
    assert.deepEqual(await accept('---\nnode: {id: a}\n---\nnode: {id: b}\n'), {
      node: { id: 'a' },
    });
  });

  it('may begin with a byte order mark', async () => {
    assert.deepEqual(await accept('\ufeffnode: {id: a}'), { node: { id: 'a' } });
  });

  it('may have the lines of braces and brackets at the left margin', async () => {
    const text = `node: {
"id": "x", # a ]
client_features: [ "a
]", 'b }', it's, c#d
]
}
flags_path: x[1
`;
    assert.deepEqual(await accept(text), {
      node: { id: 'x', client_features: ['a ]', 'b }', "it's", 'c#d'] },
      flags_path: 'x[1',
    });
    assert.match((await errorsOf('node: {\nid: 5\n}'))[0] ?? '', /^test\.yaml:2:5: node\.id: /);
  });

  it('may have a comment right after a bracket', async () => {
    assert.deepEqual(await accept('node: {id: a}# c'), { node: { id: 'a' } });
  });

  it('have a null where a flow list leaves an item out', async () => {
    const lists = 'a: [x,,z], b: [,x], c: [x,,], d: [,], e: [x,], f: [[,x],\n,{k: [,,]}]';
    const texts = [`node: {metadata: {${lists}}}`, `node: {metadata: {\n${lists}\n}}`];
    for (const text of texts) {
      assert.deepEqual(await accept(text), {
        node: {
          metadata: {
            a: ['x', null, 'z'],
            b: [null, 'x'],
            c: ['x', null],
            d: [null],
            e: ['x'],
            f: [[null, 'x'], null, { k: [null, null] }],
          },
        },
      });
    }
  });

  it("may have braces, brackets and quotes at their key's own column", async () => {
    const text = 'node:\n  metadata:\n  {a:\n  b}\n  client_features:\n  [x,\n  z]\n';
    const plain = 'node:\n  metadata:\n  # c\n\n  {a: b}\n  client_features:\n  [x, z]\n';
    for (const each of [text, plain]) {
      assert.deepEqual(await accept(each), {
        node: { metadata: { a: 'b' }, client_features: ['x', 'z'] },
      });
    }
    const quoted = 'node:\n  id:\n  "a" # c\n  cluster:\n  \'b\'\n';
    assert.deepEqual(await accept(quoted), { node: { id: 'a', cluster: 'b' } });
    assert.notDeepEqual(await errorsOf('node:\n  id:\n  a\n'), []);
    assert.notDeepEqual(await errorsOf('node:\n  metadata:\n {a: b}\n'), []);
  });

  it('may not escape surrogates', async () => {
    const table: [text: string, place: string][] = [
      ['node: {id: "a\\ud83d\\ude00"}', '1:14'],
      ['node: {"\\\\\\uDC00": a}', '1:11'],
    ];
    for (const [text, place] of table) {
      assert.match((await errorsOf(text))[0] ?? '', new RegExp(`yaml:${place}: .* no character`));
    }
    assert.deepEqual(await accept('node: {id: "\\U0001f600 \\\\ud83d"}'), {
      node: { id: '\u{1f600} \\ud83d' },
    });
  });

  it('may not have a question mark in a bare word within brackets or braces', async () => {
    const table: [text: string, place: string][] = [
      ['node: {id: a?b}', '1:13'],
      ['node: {id: ab?}', '1:14'],
      ['node: {i?d: a}', '1:9'],
      ['node:\n  client_features: [a, b ?c]', '2:26'],
    ];
    for (const [text, place] of table) {
      assert.match((await errorsOf(text))[0] ?? '', new RegExp(`yaml:${place}: .*to be quoted`));
    }
    assert.deepEqual(await accept('node:\n  id: a?b\n  client_features: ["a?"]\n'), {
      node: { id: 'a?b', client_features: ['a?'] },
    });
  });

  it('read lists in a list as one where a field repeats', async () => {
    assert.deepEqual(await accept('node: {client_features: [[a], [[b], c]]}'), {
      node: { client_features: ['a', 'b', 'c'] },
    });
  });

  it('must hold an object', async () => {
    for (const text of ['', 'foo', '5', '~']) {
      assert.deepEqual(await errorsOf(text), [
        'test.yaml:1:1: expected an object at the top of the document',
      ]);
    }
  });

  it('refuse an alias of itself and one without an anchor', async () => {
    assert.match((await errorsOf('node: &n {metadata: *n}'))[0] ?? '', /1:21: the anchor 'n'/);
    assert.match((await errorsOf('node: *n'))[0] ?? '', /1:7: the anchor 'n'/);
  });

  it('refuse aliases that would multiply into millions of nodes', async () => {
    const lines = ['!ignore a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 8; level += 1) {
      const items = Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ');
      lines.push(`!ignore a${level}: &a${level} [${items}]`);
    }
    assert.match((await errorsOf(lines.join('\n')))[0] ?? '', /aliases repeat more than/);
  });

  it('refuse nesting without end', async () => {
    const text = `node: {metadata: {a: ${'['.repeat(50_000)}`;
    assert.equal((await errorsOf(text)).length > 0, true);
    const closed = `node: {metadata: {a: ${'['.repeat(300)}${']'.repeat(300)}}}`;
    assert.match((await errorsOf(closed))[0] ?? '', /nested too deeply/);
  });

  it('report bytes that are not UTF-8', async () => {
    assert.deepEqual(await errorsOf(Buffer.from([0x61, 0x3a, 0x20, 0xff])), [
      'test.yaml:1:1: not valid UTF-8',
    ]);
  });
});
