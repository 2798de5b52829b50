import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResourceUpdate } from '../../../../shared/resources/resource-update.ts';
import { ChangeQueue, type Change } from '../../../../workers/data-plane/change-queue.ts';
import { SliceTurns } from '../../../../workers/loop/slice-turns.ts';
import type { Steps } from '../../../../workers/loop/sliced-work.ts';

/** Each reading is a millisecond later, so that a slice is one step. */
function makeLoop() {
  let ms = 0;
  const clock = {
    get ms() {
      return ms++;
    },
    refresh: () => undefined,
  };
  const loop = { clock, run: (_: undefined, act: () => void) => act() };
  return { slices: new SliceTurns(loop), enter: () => undefined, leave: () => undefined };
}

/** Updates by name: `big` takes ten steps, `bad` fails in the last of ten, `wrong` at once. */
function start() {
  const done: string[] = [];
  const steps = function* (name: string): Steps<Change> {
    for (let step = 0; step < 10; step++) yield;
    if (name === 'bad') throw new Error('cannot be made');
    return () => void done.push(name);
  };
  const prepare = (update: ResourceUpdate): Change | Steps<Change> => {
    const { name } = update as { name: string };
    if (name === 'wrong') throw new Error('wrong');
    return ['big', 'bad'].includes(name) ? steps(name) : () => void done.push(name);
  };
  const queue = new ChangeQueue({
    loop: makeLoop(),
    prepare,
    onSettled: () => void done.push('settled'),
  });
  const apply = (...names: string[]): Promise<void> | undefined =>
    queue.apply(names.map((name) => ({ op: 'remove_listener', name })));
  return { done, apply };
}

describe('changes of a worker', () => {
  it('are in force at once where they are small', () => {
    const { done, apply } = start();
    assert.equal(apply('a', 'b'), undefined);
    assert.throws(() => apply('c', 'wrong'), /wrong/);
    assert.deepEqual(done, ['a', 'b', 'settled']);
  });

  it('are prepared in turns of the loop where they are large, and change all at once', async () => {
    const { done, apply } = start();
    const inForce = apply('a', 'big');
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    assert.deepEqual(done, []);
    await inForce;
    assert.deepEqual(done, ['a', 'big', 'settled']);
  });

  it('keep their order', async () => {
    const { done, apply } = start();
    for (const names of [['big'], ['a'], ['big', 'b']]) void apply(...names);
    await apply('c');
    assert.deepEqual(
      done.filter((each) => each !== 'settled'),
      ['big', 'a', 'big', 'b', 'c'],
    );
    assert.equal(apply('d'), undefined);
  });

  it('of a batch that cannot be made are none, and later ones go on', async () => {
    const { done, apply } = start();
    const refused = apply('a', 'big', 'bad');
    const later = apply('b');
    await assert.rejects(async () => refused, /cannot be made/);
    await later;
    assert.deepEqual(done.at(-2), 'b');
    assert.ok(!done.includes('a') && !done.includes('big'));
    assert.equal(apply('c'), undefined);
  });
});
