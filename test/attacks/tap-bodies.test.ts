/**
 * Bodies that a client may post to `/tap`: odd, deep, long, with aliases, generated ones. Each is
 * answered with an error of the client's or begins a tap, and the admin interface answers others
 * meanwhile.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { attackParameters } from '../support/attack.ts';
import { bootstrap, httpListener } from '../support/parts/bootstrap.ts';
import { fetchOnce } from '../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../support/programs/sluice.ts';

const HTTP = 'type.googleapis.com/envoy.extensions.filters.http';
/** What an answer to anybody else may take meanwhile, on a machine with other work. */
const READY_LIMIT_MS = 3_000;

const MEMBERS = ['__proto__', 'constructor', 'toString', 'prototype'];

const deep = (open: string, close: string, depth: number): string =>
  open.repeat(depth) + close.repeat(depth);

const ALIASES = `a0: &a0 [x]\n${Array.from(
  { length: 30 },
  (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`,
).join('\n')}`;

const BODIES: readonly (readonly [what: string, body: string])[] = [
  ['nothing', ''],
  ['a number', '7'],
  ['null', 'null'],
  ['a list', '[]'],
  ['lists in lists', deep('[', ']', 50_000)],
  ['lists without an end', '['.repeat(100_000)],
  ['objects in objects', deep('{"tap_config":', '}', 20_000)],
  [
    'matchers in matchers',
    `{"config_id":"one","tap_config":{"match":${'{"not_match":'.repeat(3_000)}{"any_match":true}${'}'.repeat(3_000)}}}`,
  ],
  ['aliases of aliases', ALIASES],
  ['an alias of itself', 'a: &a [*a]'],
  ['a key of many letters', `{"${'k'.repeat(500_000)}":1}`],
  ['many keys', `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":${at}`).join(',')}}`],
  ['bytes that are no text', '\u0000\u0001\ud800'],
  [
    'a long number',
    `{"config_id":"one","tap_config":{"output_config":{"max_buffered_rx_bytes":${'9'.repeat(10_000)}}}}`,
  ],
  ...MEMBERS.map((name) => [`a field ${name}`, `{"${name}":{"${name}":1}}`] as const),
  ...MEMBERS.map((name) => [`a config id ${name}`, `{"config_id":"${name}"}`] as const),
];

describe('bodies of /tap', () => {
  let sluice: Sluice;

  before(async () => {
    const tap = {
      name: 'tap',
      typed_config: {
        '@type': `${HTTP}.tap.v3.Tap`,
        common_config: { admin_config: { config_id: 'one' } },
      },
    };
    const router = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener([], { hcm: { http_filters: [tap, router] } })],
        clusters: [],
      }),
    });
  });

  after(async () => {
    await sluice.stop();
  });

  async function post(body: string): Promise<number> {
    const { adminPort: port } = sluice;
    const posted = fetchOnce({ port, path: '/tap', method: 'POST', body });
    // It may fail before anybody waits for it: the server closes on a body that is too long.
    posted.catch(() => undefined);
    const ready = await fetchOnce({ port, path: '/ready' }, READY_LIMIT_MS);
    assert.equal(ready.status, 200);
    return (await posted).status;
  }

  for (const [what, body] of BODIES) {
    it(`are refused: ${what}`, async () => {
      const status = await post(body);
      assert.ok(status >= 400 && status < 500, `status ${status}`);
    });
  }

  it('are refused where they are longer than a request may be', async () => {
    const status = await post(`{"a":"${'x'.repeat(20_000_000)}"}`).catch(() => 413);
    assert.equal(status, 413);
  });

  it('are refused as generated, with names of every kind', async () => {
    const key = fc.oneof(
      fc.constantFrom('config_id', 'tap_config', 'match', 'and_match', 'rules', 'output_config'),
      fc.constantFrom('sinks', 'streaming_admin', 'buffered_admin', '@type', ...MEMBERS),
      fc.string({ maxLength: 5 }),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom('one', 1, -1, true, null, '', '1s'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc
          .array(fc.tuple(key, tie('value')), { maxLength: 4 })
          .map((entries) => Object.fromEntries(entries) as object),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(value, async (body) => {
        const status = await post(JSON.stringify(body));
        assert.ok(status >= 400 && status < 500, `status ${status}`);
      }),
      attackParameters(40, 20_000),
    );
  });
});
