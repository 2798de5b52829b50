/** Masks: what a path may name, against a search that is written out, and masks of any length. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'node:test';
import { FieldMask } from '../../../../supervisor/admin/config-dump/field-mask.ts';
import { createMessageTypes } from '../../../../supervisor/admin/message-types.ts';
import { atOnce } from '../../../../supervisor/loop/loop-turns.ts';

const types = createMessageTypes();
const SECTION = 'envoy.admin.v3.ClustersConfigDump.StaticCluster';
const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const MESSAGE = {
  cluster: {
    '@type': `type.googleapis.com/${CLUSTER}`,
    name: 'web',
    lb_policy: 'RANDOM',
    circuit_breakers: { thresholds: [{ max_retries: 1 }] },
    load_assignment: { cluster_name: 'web', policy: { overprovisioning_factor: 140 } },
  },
  last_updated: '2026-01-01T00:00:00Z',
};

/** Below `cluster`, whose type is that of what stands in it. */
function isPath(path: readonly string[]): boolean {
  const [first = '', second, ...rest] = path;
  if (first === 'last_updated')
    return second === undefined || isField(TIMESTAMP, [second, ...rest]);
  return first === 'cluster' && second !== undefined && isField(CLUSTER, [second, ...rest]);
}

const TIMESTAMP = 'google.protobuf.Timestamp';

function isField(typeName: string, [name = '', ...rest]: readonly string[]): boolean {
  const type = types.find(typeName);
  const field = type && types.field(type, name);
  if (field === undefined || rest.length === 0) return field !== undefined;
  const isMessage = field.kind === 'message' && !field.repeated && field.mapKey === undefined;
  return isMessage && isField(field.type ?? '', rest);
}

const NAMES = [
  'cluster',
  'last_updated',
  'name',
  'circuit_breakers',
  'thresholds',
  'load_assignment',
  'policy',
  'overprovisioning_factor',
  'value',
  'seconds',
  'metadata',
  'filter_metadata',
  'constructor',
  '__proto__',
  '',
];
/** Such as may be, such as are nearly so, and any. */
const pathOf = fc.oneof(
  fc.constantFrom(
    'cluster.name',
    'cluster.load_assignment.policy',
    'cluster.load_assignment.policy.overprovisioning_factor',
    'cluster.circuit_breakers',
    'last_updated.seconds',
    'last_updated',
  ),
  fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 }).map((path) => path.join('.')),
);

test('a mask fits where each of its paths does, in any order and number', () => {
  fc.assert(
    fc.property(fc.array(pathOf, { minLength: 1, maxLength: 4 }), (paths) => {
      const mask = atOnce(FieldMask.read(paths.join(',')));
      const present = paths.filter((path) => path !== '');
      const fits = present.every((path) => isPath(path.split('.')));
      assert.equal(atOnce(mask.fits(types, SECTION, MESSAGE)), fits, paths.join(','));
      // Another time it is known.
      assert.equal(atOnce(mask.fits(types, SECTION, MESSAGE)), fits);
    }),
    { numRuns: 500 },
  );
});

test('what is kept has the paths, and of a covered path the whole', () => {
  const kept = (text: string) =>
    atOnce(atOnce(FieldMask.read(text)).applied(types, SECTION, MESSAGE));
  const any = { '@type': MESSAGE.cluster['@type'] };
  assert.deepEqual(kept('cluster.name'), { cluster: { ...any, name: 'web' } });
  const { load_assignment } = MESSAGE.cluster;
  for (const text of [
    'cluster.load_assignment,cluster.load_assignment.policy',
    'cluster.load_assignment.policy,cluster.load_assignment',
  ]) {
    assert.deepEqual(kept(text), { cluster: { ...any, load_assignment } });
  }
  assert.equal(kept('cluster'), undefined);
  assert.equal(kept('cluster.nosuch'), undefined);
});

test('masks as long as a body are read, checked and printed in short steps', () => {
  const parts = 20_000;
  const long = [
    'cluster.name,'.repeat(parts),
    'cluster'.concat('.name'.repeat(parts)),
    ','.repeat(200_000),
    Array.from({ length: parts }, (_, part) => `cluster.x${part}`).join(),
    '\u0001,'.repeat(parts),
  ];
  for (const text of long) {
    let steps = 0;
    const work = (function* all() {
      const mask = yield* FieldMask.read(text);
      yield* mask.fits(types, SECTION, MESSAGE);
      yield* mask.describe();
      return yield* mask.list();
    })();
    while (work.next().done !== true) steps++;
    const looked = text.split(/[,.]/).length;
    assert.ok(steps >= looked / 256 - 1, `${text.slice(0, 20)}: ${steps}`);
  }
});
