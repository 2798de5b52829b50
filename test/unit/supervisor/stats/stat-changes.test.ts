import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoopTurns } from '../../../../supervisor/loop/loop-turns.ts';
import {
  SINCE_NOW,
  StatCursors,
  type StatChanges,
} from '../../../../supervisor/stats-output/changes/stat-changes.ts';
import { OrderedView } from '../../../../supervisor/stats/ordered-view.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';

const selection = { usedOnly: false, hidden: 'exclude' } as const;

function trial(limits?: { cursors: number; values: number }) {
  const store = new StatStore();
  const cursors = new StatCursors(store, limits);
  const view = new OrderedView(store);
  const ask = async (since: string): Promise<StatChanges | string> => {
    const segments = await view.segments();
    return await new LoopTurns().run(
      cursors.changes({ since, choice: '', selection, atMs: 0 }, segments),
    );
  };
  const asked = async (since: string): Promise<StatChanges> => {
    const answer = await ask(since);
    return typeof answer === 'string' ? assert.fail(answer) : answer;
  };
  return { store, ask, asked };
}

describe('changes of statistics', () => {
  it('begin from nothing where another has the place of a counter', async () => {
    const { store, asked } = trial();
    const index = store.defineCounter('a');
    store.add(index, 5);
    const { cursor } = await asked(SINCE_NOW);
    store.releaseNamed('a');
    const other = store.defineCounter('b');
    store.add(other, 7);
    const { changes } = await asked(cursor);
    assert.deepEqual(
      changes.map(({ name, printed }) => [name, printed]),
      [['b', '7']],
    );
  });

  it('show a gauge that fell to nothing', async () => {
    const { store, asked } = trial();
    const index = store.defineGauge('open');
    store.setGauge(index, 3);
    const { cursor } = await asked(SINCE_NOW);
    store.setGauge(index, 0);
    const [change] = (await asked(cursor)).changes;
    assert.deepEqual([change?.name, change?.printed], ['open', '0']);
  });

  it('are kept for some answers, and up to so many values', async () => {
    const few = trial({ cursors: 2, values: 100 });
    const cursors = [];
    for (let times = 0; times < 3; times++) cursors.push((await few.asked(SINCE_NOW)).cursor);
    assert.equal(typeof (await few.ask(cursors[0] ?? '')), 'string');
    assert.equal(typeof (await few.ask(cursors[2] ?? '')), 'object');
    const small = trial({ cursors: 8, values: 3 });
    for (const name of ['a', 'b']) small.store.increment(small.store.defineCounter(name));
    const { cursor } = await small.asked(SINCE_NOW);
    await small.asked(SINCE_NOW);
    assert.equal(typeof (await small.ask(cursor)), 'string');
    for (const name of ['c', 'd']) small.store.increment(small.store.defineCounter(name));
    const refused = await small.ask(SINCE_NOW);
    assert.match(typeof refused === 'string' ? refused : '', /a filter has to choose/);
  });
});
