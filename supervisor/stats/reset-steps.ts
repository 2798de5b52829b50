/** Sets the counters of a store to zero in short steps. */
import type { Steps } from '../loop/loop-turns.ts';
import type { Definition, StatStore } from './stat-store.ts';

/** Blocks that are reset in one step, a fraction of a millisecond. */
const BLOCKS_PER_STEP = 64;

export function* resetInSteps(store: StatStore): Steps<void> {
  let blocks: Definition[] = [];
  for (const definition of store.definitions()) {
    blocks.push(definition);
    if (blocks.length < BLOCKS_PER_STEP) continue;
    store.resetCounters(blocks);
    blocks = [];
    yield;
  }
  store.resetCounters(blocks);
}
