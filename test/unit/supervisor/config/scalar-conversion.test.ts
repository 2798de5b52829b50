import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accept, errorsOf } from './load.ts';

const ringSize = (value: string): string =>
  `{"static_resources":{"clusters":[{"name":"a","ring_hash_lb_config":{"minimum_ring_size":${value}}}]}}`;

const percent = (value: string): string =>
  `{"static_resources":{"clusters":[{"name":"a","common_lb_config":{"healthy_panic_threshold":{"value":${value}}}}]}}`;

const policy = (value: string): string =>
  `{"static_resources":{"clusters":[{"name":"a","lb_policy":${value}}]}}`;

const secret = (value: string): string =>
  `{"static_resources":{"secrets":[{"generic_secret":{"secret":{"inline_bytes":${value}}}}]}}`;

/** Follows field names and indices. */
function pick(message: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<string | number, unknown> | undefined)?.[key],
    message,
  );
}

async function json(text: string): Promise<unknown> {
  return accept(text, { format: 'json' });
}

async function refused(text: string): Promise<string> {
  return (await errorsOf(text, { format: 'json' })).join('\n');
}

describe('64-bit integers', () => {
  const table: [text: string, value: unknown][] = [
    ['5', '5'],
    ['"5"', '5'],
    ['"+5"', '5'],
    ['"0x10"', '16'],
    ['"-0"', '0'],
    ['1e3', '1000'],
    ['"1e3"', '1000'],
    ['5.0', '5'],
    ['{"value": "7"}', '7'],
    ['{}', '0'],
    ['null', undefined],
  ];
  for (const [text, value] of table) {
    it(`read ${text} as ${String(value)}`, async () => {
      const path = ['static_resources', 'clusters', 0, 'ring_hash_lb_config', 'minimum_ring_size'];
      assert.equal(pick(await json(ringSize(text)), ...path), value);
    });
  }
  for (const text of [
    '"5 "',
    '""',
    '"NaN"',
    '-1',
    '1e30',
    '18446744073709551616',
    '[1]',
    'true',
    '"0b1"',
    '5.5',
  ]) {
    it(`refuse ${text}`, async () => {
      assert.match(await refused(ringSize(text)), /minimum_ring_size: /);
    });
  }
  it('keep every digit', async () => {
    const text = '{"stats_server_version_override": 18446744073709551615}';
    assert.deepEqual(await json(text), { stats_server_version_override: '18446744073709551615' });
  });
});

describe('doubles', () => {
  const path = [
    'static_resources',
    'clusters',
    0,
    'common_lb_config',
    'healthy_panic_threshold',
    'value',
  ];
  for (const [text, value] of [
    ['"1.5"', 1.5],
    ['".5"', 0.5],
    ['"5."', 5],
    ['" 1"', 1],
    ['"0x10"', 16],
    ['-0', undefined],
    ['"nan"', 'NaN'],
    ['100', 100],
  ] as const) {
    it(`read ${text} as ${String(value)}`, async () => {
      assert.equal(pick(await json(percent(text)), ...path), value);
    });
  }
  for (const text of ['"abc"', 'true', '"Infinity"', '"1e400"']) {
    it(`refuse ${text} for a percentage`, async () => {
      assert.match(await refused(percent(text)), /healthy_panic_threshold\.value: /);
    });
  }
});

describe('enums', () => {
  const path = ['static_resources', 'clusters', 0, 'lb_policy'];
  for (const [text, value] of [
    ['"RANDOM"', 'RANDOM'],
    ['"random"', 'RANDOM'],
    ['3', 'RANDOM'],
    ['"3"', 'RANDOM'],
    ['3.0', 'RANDOM'],
    ['"ROUND_ROBIN"', undefined],
    ['0', undefined],
    ['null', undefined],
  ] as const) {
    it(`read ${text} as ${String(value)}`, async () => {
      assert.equal(pick(await json(policy(text)), ...path), value);
    });
  }
  it('refuse an unknown name with a suggestion', async () => {
    assert.match(
      await refused(policy('"RANDON"')),
      /lb_policy: unknown value 'RANDON'.*\(did you mean RANDOM\?\)/,
    );
  });
  it('refuse an unknown number by the constraints of the API', async () => {
    assert.match(await refused(policy('99')), /value must be one of the defined enum values/);
  });
});

describe('durations', () => {
  for (const [text, value] of [
    ['5s', '5s'],
    ['0.5s', '0.500s'],
    ['1.000001s', '1.000001s'],
    ['1.000000001s', '1.000000001s'],
    ['{seconds: 5, nanos: 3}', '5.000000003s'],
  ] as const) {
    it(`read ${text} as ${value}`, async () => {
      assert.deepEqual(await accept(`stats_flush_interval: ${text}`), {
        stats_flush_interval: value,
      });
    });
  }
  for (const text of [
    '5',
    '"5"',
    '.5s',
    '5.s',
    '+5s',
    '" 5s"',
    '5ms',
    '5S',
    '0.0000000001s',
    '315576000001s',
    'soon',
    '-1s',
    '[5s]',
    '{hours: 1}',
  ]) {
    it(`refuse ${text}`, async () => {
      assert.match(
        (await errorsOf(`stats_flush_interval: ${text}`))[0] ?? '',
        /^test\.yaml:1:\d+: stats_flush_interval: /,
      );
    });
  }
});

describe('booleans', () => {
  for (const text of ['true', '"true"', '"t"', '"YES"', '"1"', '{"value": true}']) {
    it(`read ${text} as true`, async () => {
      assert.deepEqual(await json(`{"stats_config": {"use_all_default_tags": ${text}}}`), {
        stats_config: { use_all_default_tags: true },
      });
    });
  }
  for (const text of ['1', '"on"', '""', '[]']) {
    it(`refuse ${text}`, async () => {
      assert.match(
        await refused(`{"stats_config": {"use_all_default_tags": ${text}}}`),
        /use_all_default_tags: /,
      );
    });
  }
});

describe('bytes', () => {
  for (const [text, value] of [
    ['"YQ"', 'YQ=='],
    ['"YQ=="', 'YQ=='],
    ['"_-8"', '/+8='],
    ['""', ''],
  ] as const) {
    it(`read ${text} as ${value}`, async () => {
      const path = ['static_resources', 'secrets', 0, 'generic_secret', 'secret', 'inline_bytes'];
      assert.equal(pick(await json(secret(text)), ...path), value);
    });
  }
  for (const text of ['"YQ="', '"Y"', '"a b"', '"!"', '5']) {
    it(`refuse ${text}`, async () => {
      assert.match(await refused(secret(text)), /inline_bytes: /);
    });
  }
});
