/** Keys that stand twice: read as Envoy reads them, with a warning that names both places. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatProblem } from '../../../../supervisor/config/config-error.ts';
import { runPipeline } from '../../../../supervisor/config/pipeline.ts';

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';

async function read(format: 'yaml' | 'json', text: string, refusesRepeatedKeys = false) {
  const source = { name: `f.${format}`, format, content: Buffer.from(text) };
  const options = { unknownFields: 'refuse', refusesRepeatedKeys } as const;
  const { message, problems } = await runPipeline(BOOTSTRAP, [source], options);
  return {
    message,
    problems: problems.map(formatProblem),
    severities: problems.map((p) => p.severity),
  };
}

describe('A key that stands twice in YAML', () => {
  it('has the last value, and nothing of the first', async () => {
    const text = 'node: {id: a, locality: {zone: z}}\nnode:\n  cluster: c\n  cluster: d\n';
    const { message, problems, severities } = await read('yaml', text);
    assert.deepEqual(message, { node: { cluster: 'd' } });
    assert.deepEqual(severities, ['warning', 'warning']);
    assert.deepEqual(problems.toSorted(), [
      "f.yaml:2:1: duplicate key 'node': the last one counts, and what stands at f.yaml:1:1 has no effect",
      "f.yaml:4:3: duplicate key 'cluster': the last one counts, and what stands at f.yaml:3:3 has no effect",
    ]);
  });

  it('may hold nonsense in the value that does not count', async () => {
    const { message, severities } = await read('yaml', 'node: {nonsense: 1}\nnode: {id: b}\n');
    assert.deepEqual([message, severities], [{ node: { id: 'b' } }, ['warning']]);
  });

  it('is refused where that is asked for, with both places', async () => {
    const { problems, severities } = await read('yaml', 'node: {id: a}\nnode: {id: b}\n', true);
    assert.deepEqual(severities, ['error']);
    assert.deepEqual(problems, [
      "f.yaml:2:1: duplicate key 'node', which stands at f.yaml:1:1 too",
    ]);
  });
});

describe('A key that stands twice in JSON', () => {
  const read1: [what: string, text: string, message: unknown][] = [
    ['scalars: the last one counts', '{"node":{"id":"a","id":"b"}}', { node: { id: 'b' } }],
    [
      'messages are joined',
      '{"node":{"id":"a","locality":{"zone":"z"}},"node":{"cluster":"c","locality":{"region":"r"}}}',
      { node: { id: 'a', cluster: 'c', locality: { zone: 'z', region: 'r' } } },
    ],
    [
      'lists are joined',
      '{"static_resources":{"clusters":[{"name":"a"}],"clusters":[{"name":"b"}]}}',
      { static_resources: { clusters: [{ name: 'a' }, { name: 'b' }] } },
    ],
    ['null changes nothing', '{"node":{"id":"a"},"node":null}', { node: { id: 'a' } }],
  ];
  for (const [what, text, message] of read1) {
    it(what, async () => {
      const found = await read('json', text);
      assert.deepEqual(found.message, message);
      assert.ok(found.severities.every((severity) => severity === 'warning'));
      assert.match(
        found.problems[0] ?? '',
        /duplicate key '\w+': lists and messages are joined with those at f\.json:1:\d+/,
      );
    });
  }

  const refused: [what: string, text: string, words: RegExp][] = [
    [
      'keys of a map',
      '{"node":{"metadata":{"a":1,"a":2}}}',
      /got unexpectedly-repeated repeated map key: 'a'/,
    ],
    [
      'members of a oneof',
      '{"layered_runtime":{"layers":[{"name":"a","static_layer":{},"static_layer":{}}]}}',
      /'static_layer' has already been set/,
    ],
    [
      '@type',
      '{"stats_sinks":[{"name":"a","typed_config":{"@type":"type.googleapis.com/google.protobuf.Struct","@type":"x/y"}}]}',
      /repeated @type in Any/,
    ],
  ];
  for (const [what, text, words] of refused) {
    it(`is refused of ${what}`, async () => {
      const { problems, severities } = await read('json', text);
      assert.ok(severities.includes('error'));
      assert.match(problems.join('\n'), words);
    });
  }

  it('may be spelled in two ways', async () => {
    const { message, severities } = await read(
      'json',
      '{"node":{"userAgentName":"a","user_agent_name":"b"}}',
    );
    assert.deepEqual([message, severities], [{ node: { user_agent_name: 'b' } }, ['warning']]);
  });
});

describe('An Any of a well-known type without a value', () => {
  for (const [name, value] of [
    ['Struct', {}],
    ['Duration', '0s'],
    ['StringValue', ''],
    ['ListValue', []],
  ] as const) {
    it(`is empty: ${name}`, async () => {
      const type = `type.googleapis.com/google.protobuf.${name}`;
      const text = `stats_sinks: [{name: a, typed_config: {"@type": ${type}}}]`;
      const { message, problems } = await read('yaml', text);
      assert.deepEqual(problems, []);
      assert.deepEqual(message, {
        stats_sinks: [{ name: 'a', typed_config: { '@type': type, value } }],
      });
    });
  }
});
