import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../../shared/api/well-known.ts';
import { ConfigHistory } from '../../../../supervisor/store/config-history.ts';
import { diffLines } from '../../../../supervisor/store/message-diff.ts';

function changed(
  history: ConfigHistory,
  name: string,
  before: JsonObject,
  after: JsonObject,
): void {
  history.note({ kind: 'cluster', name, change: 'accepted', version: 'v', before, after });
}

test('the oldest changes are forgotten, by number and by what they hold', () => {
  const history = new ConfigHistory();
  for (let at = 0; at < 10_000; at++) changed(history, `c${at % 7}`, { at }, { at: at + 1 });
  const kept = [...history.newest()];
  assert.equal(kept.length, 4_096);
  assert.equal(history.forgotten, 10_000 - 4_096);
  assert.deepEqual([kept[0]?.id, kept.at(-1)?.id], [10_000, 10_000 - 4_095]);
  const text = 'x'.repeat(1024 * 1024);
  for (let at = 0; at < 100; at++) changed(history, 'large', { text: text + at }, { at });
  assert.ok(history.heldBytes <= 16 * 1024 * 1024, String(history.heldBytes));
  assert.ok([...history.newest()].length <= 16);
});

test('a message with too many values is not kept, neither as what was nor as what is', () => {
  const history = new ConfigHistory();
  const huge = { list: Array.from({ length: 60_000 }, (_, at) => at) };
  changed(history, 'one', { at: 1 }, huge);
  changed(history, 'one', huge, { at: 2 });
  const [second, first] = [...history.newest()];
  assert.deepEqual([first?.after, first?.isPart], [undefined, true]);
  assert.deepEqual([second?.before, second?.isPart, second?.after], [undefined, true, { at: 2 }]);
});

test('a nonce is that of the answer which is taken, and of no file', () => {
  const history = new ConfigHistory();
  history.heard('cluster', { version: '1', nonce: 'n1' });
  history.taken('cluster', 'ads', '1');
  changed(history, 'one', {}, { at: 1 });
  history.taken('cluster', '/etc/cds.yaml', '2');
  changed(history, 'one', { at: 1 }, { at: 2 });
  assert.deepEqual(
    [...history.newest()].map(({ nonce, source }) => [nonce, source]),
    [
      ['', '/etc/cds.yaml'],
      ['n1', 'ads'],
    ],
  );
});

test('a difference names elements of lists by their names, and hostile keys as others', () => {
  const before = {
    hosts: [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ],
    plain: [1, 2],
  };
  const after = JSON.parse(
    '{"hosts":[{"name":"b","port":3},{"name":"a","port":1}],"plain":[1],"__proto__":{"x":1}}',
  ) as JsonObject;
  assert.deepEqual(diffLines(before, after), [
    '- hosts[b].port: 2',
    '+ hosts[b].port: 3',
    '- plain[1]: 2',
    '+ __proto__.x: 1',
  ]);
});

test('messages that say the same have no difference, and those with one differ', () => {
  const message = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 });
  fc.assert(
    fc.property(message, message, (one, other) => {
      const copy = JSON.parse(JSON.stringify(one)) as JsonObject;
      assert.deepEqual(diffLines(copy, JSON.parse(JSON.stringify(copy)) as JsonObject), []);
      const lines = diffLines(copy, other as JsonObject);
      if (lines.length > 0) assert.notDeepEqual(copy, other);
    }),
    { numRuns: 300 },
  );
});
