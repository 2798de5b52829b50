import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import type { MessageObject } from '../../../../supervisor/config/convert/message-object.ts';
import type { Problem } from '../../../../supervisor/config/problem.ts';
import { checkApiStatus } from '../../../../supervisor/config/validate/api-status.ts';
import { checkConstraints } from '../../../../supervisor/config/validate/constraint-checker.ts';
import { readJsonFastPath } from '../../../../supervisor/config/json-fast-path.ts';
import { bootstrapType, load } from './load.ts';
import { RandomMessage } from './random-message.ts';

const catalog = new ApiCatalog();
const TYPES = [
  'envoy.config.cluster.v3.Cluster',
  'envoy.config.endpoint.v3.ClusterLoadAssignment',
  'envoy.config.listener.v3.Listener',
  'envoy.config.route.v3.RouteConfiguration',
  bootstrapType,
];

function readShort(typeName: string, text: string): unknown {
  const content = Buffer.from(text);
  return readJsonFastPath(catalog, catalog.message(typeName), { content, text });
}

/** A comma at the end, which Envoy allows, is not for the runtime's parser. */
function forLongWay(text: string): string {
  return text.replace(/\}$/, ',}').replace(/^\{,\}$/, '{} ');
}

const host = (address: unknown, more: object = {}): object => ({
  lb_endpoints: [
    { endpoint: { address: { socket_address: { address, port_value: 80 } } }, ...more },
  ],
});

const assignment = (...endpoints: readonly object[]): string =>
  JSON.stringify({ cluster_name: 'a', endpoints });

const typeName = 'envoy.config.endpoint.v3.ClusterLoadAssignment';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

const BASE = {
  admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
  node: { id: 'a', metadata: { n: 1.5, t: 'x', l: [true, null] } },
  static_resources: {
    clusters: [
      {
        name: 'a',
        connect_timeout: '0.250s',
        type: 'STRICT_DNS',
        lb_policy: 'RING_HASH',
        ring_hash_lb_config: { minimum_ring_size: '1024', hash_function: 'MURMUR_HASH_2' },
        circuit_breakers: { thresholds: [{ priority: 'HIGH', max_connections: 5 }] },
        health_checks: [
          {
            timeout: '1s',
            interval: '5s',
            unhealthy_threshold: 2,
            healthy_threshold: 1,
            http_health_check: { path: '/', expected_statuses: [{ start: 200, end: 300 }] },
          },
        ],
        common_lb_config: { healthy_panic_threshold: { value: 12.5 } },
        load_assignment: {
          cluster_name: 'a',
          endpoints: [
            { priority: 1, load_balancing_weight: 4, ...host('a', { health_status: 'HEALTHY' }) },
          ],
        },
        metadata: { filter_metadata: { x: { y: 'z' } } },
        typed_extension_protocol_options: {
          [HTTP_OPTIONS]: {
            '@type': `type.googleapis.com/${HTTP_OPTIONS}`,
            explicit_http_config: { http_protocol_options: { enable_trailers: true } },
          },
        },
        transport_socket: {
          name: 'tls',
          typed_config: {
            '@type':
              'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
            sni: 'a',
            max_session_keys: 3,
          },
        },
      },
    ],
  },
  layered_runtime: { layers: [{ name: 'a', static_layer: { b: 1 } }] },
  stats_flush_interval: '5s',
};

// oxfmt-ignore
const VALUES: readonly unknown[] = [
  0, 1, -1, 7, 300, 0.1, 16_777_217, 3e9, 1e300, 2 ** 60, true, false, null,
  '', '0', '1', 'x', '1s', 'HIGH', 'MAGLEV', '/', '::1',
  [], [null], [1], [[]], ['x'], [{}], {}, { value: 1 }, { x: null },
];

const fraction = fc.noBias(fc.nat(9999)).map((number) => number / 10_000);

const edit = fc.record({
  at: fraction,
  pick: fraction,
  /** Mostly a value is replaced by one of its kind. */
  isOther: fc.nat(9).map((number) => number === 0),
});

type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never;

describe('usual JSON', () => {
  for (const [what, text] of [
    ['hosts', assignment(host('127.0.0.1'), host('::1', { health_status: 'DRAINING' }))],
    ['default values', assignment({ ...host('1.2.3.4'), priority: 0, lb_endpoints: [] })],
    [
      'wrappers and structures',
      assignment(
        host('1.2.3.4', {
          load_balancing_weight: 3,
          metadata: { filter_metadata: { 'envoy.lb': { canary: true, n: [1, 2.5, null, '"'] } } },
        }),
      ),
    ],
    [
      '64-bit numbers and Any',
      JSON.stringify({
        name: 'a',
        typed_extension_protocol_options: {
          x: { '@type': 'type.googleapis.com/google.protobuf.Duration', value: '1s' },
        },
      }),
    ],
  ] as const) {
    it(`reads ${what} as the long way does`, async () => {
      const type = text.includes('typed_ext') ? 'envoy.config.cluster.v3.Cluster' : typeName;
      assert.ok(await compare(type, text));
    });
  }

  for (const [what, text] of [
    ['a key that stands twice', '{"cluster_name": "a", "cluster_name": "b"}'],
    [
      'a key that stands twice in a structure',
      '{"cluster_name":"a","endpoints":[{"metadata":{"filter_metadata":{"x":{"a":1,"a":2}}}}]}',
    ],
    ['a name in another case', '{"clusterName": "a"}'],
    ['an unknown field', '{"cluster_name": "a", "more": 1}'],
    ['a field that must be there', '{"endpoints": []}'],
    ['a field that must not be empty', '{"cluster_name": ""}'],
    ['null', '{"cluster_name": "a", "endpoints": null}'],
    ['one value for a list', '{"cluster_name": "a", "endpoints": {}}'],
    ['a list in a list', '{"cluster_name": "a", "endpoints": [[]]}'],
    ['a number for a text', '{"cluster_name": 1}'],
    ['an escape that may be half a character', '{"cluster_name": "\\ud800"}'],
    ['a number that a rule forbids', assignment({ ...host('a'), priority: 129 })],
    ['a port that is none', assignment(host('a')).replace('80', '65536')],
    [
      'a field of a oneof beside another',
      assignment(host('a')).replace('"port_value":80', '"port_value":80,"named_port":"a"'),
    ],
    ['a oneof that is not set', assignment(host('a')).replace(/"socket_address":\{[^}]*\}/, '')],
    ['what is deprecated', '{"cluster_name": "a", "policy": {"disable_overprovisioning": true}}'],
    ['mistakes in a structure', assignment(host('a', { load_balancing_weight: 0 }))],
    ['a text after its end', '{"cluster_name": "a"} x'],
    ['__proto__', '{"cluster_name": "a", "__proto__": {}}'],
    ['no object', '[]'],
  ] as const) {
    it(`leaves ${what} to the long way`, () => {
      assert.equal(readShort(typeName, text), undefined);
    });
  }

  it('reads any message as the long way does, or not at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.constantFrom(...TYPES), async (seed, type) => {
        await compare(type, JSON.stringify(new RandomMessage(catalog, seed).message(type)));
      }),
      { numRuns: 100 },
    );
  });

  it('reads what is almost right as the long way does, or not at all', async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        const root = structuredClone(BASE);
        for (const each of edits) put(root, each);
        if (await compare(bootstrapType, JSON.stringify(root))) taken += 1;
      }),
      { numRuns: 150 },
    );
    assert.ok(taken > 5, `${taken} of 150 were taken`);
  });
});

/** What the checks of the long way say. */
function problemsOf(typeName: string, message: MessageObject): readonly Problem[] {
  const problems: Problem[] = [];
  const sink = { report: (problem: Problem): void => void problems.push(problem) };
  const type = catalog.message(typeName);
  const policy = { allows: () => false, failOnAny: false };
  const uses = { deprecated: 0, workInProgress: 0 };
  checkApiStatus({ catalog, sink, policy, uses }, type, message);
  checkConstraints({ catalog, sink, incomplete: new WeakSet() }, type, message);
  return problems;
}

/** Returns whether the short way took it. */
async function compare(type: string, text: string): Promise<boolean> {
  const short = readShort(type, text);
  if (short === undefined) return false;
  const long = await load(forLongWay(text), { format: 'json', typeName: type });
  assert.deepEqual(long.problems, []);
  assert.deepEqual(short, long.message);
  assert.deepEqual(problemsOf(type, long.message), []);
  assert.equal(JSON.stringify(short), JSON.stringify(long.message));
  return true;
}

/** Puts a value in the place of one that stands somewhere in the tree. */
function put(root: object, { at, pick, isOther }: Edit): void {
  const places: (readonly [object: Record<string, unknown>, key: string])[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      places.push([node as Record<string, unknown>, key]);
      visit(value);
    }
  };
  visit(root);
  const [object, key] = places[Math.floor(at * places.length)] ?? [];
  if (object === undefined || key === undefined) return;
  const values = VALUES.filter((value) => isOther || kindOf(value) === kindOf(object[key]));
  object[key] = structuredClone(values[Math.floor(pick * values.length)]);
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value;
}
