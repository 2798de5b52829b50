import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAPS_CHARACTERS_MAX } from '../../../../shared/messages/shared-maps.ts';
import { systemClock } from '../../../../shared/process/clock.ts';
import { SharedMaps as OrderedMaps } from '../../../../supervisor/processes/shared-maps.ts';
import { SharedMaps } from '../../../../workers/filters/http/script/shared-maps.ts';

/** Workers that take nothing in while they are blocked. */
function workers(count: number, entriesMax = 4) {
  const blocked = new Set<number>();
  const order = new OrderedMaps({
    clock: systemClock,
    tell: (index, command) => {
      if (blocked.has(index)) return false;
      copies[index]?.take(command);
      return true;
    },
  });
  const copies = Array.from(
    { length: count },
    (_, index) => new SharedMaps((notice) => order.noticed(index, notice)),
  );
  return { blocked, maps: copies.map((copy) => copy.open('m', { entriesMax })) };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a map that workers share', () => {
  it('is the same everywhere in the end, whoever wrote what, and whoever was blocked', async () => {
    const step = fc.record({
      worker: fc.nat(2),
      act: fc.constantFrom('set', 'delete', 'add', 'block', 'free', 'turn'),
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__'),
      value: fc.nat(9),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { blocked, maps } = workers(3);
        await turns();
        for (const { worker, act, key, value } of steps) {
          const map = maps[worker] ?? assert.fail();
          if (act === 'set') {
            map.set(key, value);
            assert.equal(map.get(key), value);
          } else if (act === 'delete') map.delete(key);
          else if (act === 'add') void map.add(key, value);
          else if (act === 'block') blocked.add(worker);
          else if (act === 'free') blocked.delete(worker);
          else await turns();
        }
        blocked.clear();
        // What comes last reaches those that were blocked, too.
        maps[0]?.set('end', 1);
        await turns();
        const [first, ...others] = maps.map((map) => new Map(map));
        assert.ok((first?.size ?? 9) <= 4);
        for (const other of others) assert.deepEqual(other, first);
      }),
      { numRuns: 200 },
    );
  });

  it('lets go of what was written first when all maps are full', async () => {
    const { maps } = workers(2, 1_000);
    await turns();
    const [one, two] = maps;
    const large = 'x'.repeat(60_000);
    const many = Math.ceil(MAPS_CHARACTERS_MAX / 60_000);
    one?.set('first', large);
    for (let at = 0; at < many; at++) one?.set(`k${at}`, large);
    await turns();
    assert.deepEqual(
      [one?.has('first'), two?.has('first'), two?.has(`k${many - 1}`)],
      [false, false, true],
    );
    assert.ok((two?.size ?? 0) < many && two?.size === one?.size);
    assert.throws(() => one?.set('k', 'x'.repeat(70_000)), RangeError);
    assert.throws(() => one?.set('k', undefined), TypeError);
  });
});
