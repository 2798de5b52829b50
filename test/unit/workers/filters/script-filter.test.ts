import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineFilter, type FilterDefinition } from '../../../../shared/scripts/filter.ts';
import { filterSettings, makeWorker, statPrefix } from '../../../../src/testing/tested-context.ts';
import { makeScriptFilter } from '../../../../workers/filters/http/script/script-filter.ts';
import type { FilterFactory } from '../../../../workers/stream/filter.ts';
import type { ResolvedRoute } from '../../../../workers/stream/route.ts';

interface Loaded {
  readonly factory: FilterFactory;
  /** Requests that the module is said to have seen. */
  readonly requests: () => number;
}

async function load(definition: FilterDefinition): Promise<Loaded> {
  const worker = makeWorker(definition, {});
  const factory = makeScriptFilter(filterSettings('test', {}), worker.context);
  await worker.ready();
  return { factory, requests: () => worker.stats.read(`${statPrefix('test')}requests`) };
}

describe('a script filter', () => {
  it('takes no place in the chain where its module has no functions, and counts', async () => {
    const { factory, requests } = await load(defineFilter({ create: () => ({}) }));
    assert.deepEqual(factory.filtersFor?.(undefined), []);
    assert.equal(requests(), 1);
  });

  it('takes its place where a route has settings for it, or the module has a function', async () => {
    const perFilterConfig = new Map([['test', { isDisabled: true, settings: undefined }]]);
    const route = { filterSettings: { perFilterConfig } } as unknown as ResolvedRoute;
    const empty = await load(defineFilter({ create: () => ({}) }));
    assert.deepEqual(empty.factory.filtersFor?.(route), [empty.factory]);
    const full = await load(defineFilter({ create: () => ({ onEnd: () => undefined }) }));
    assert.deepEqual(full.factory.filtersFor?.(undefined), [full.factory]);
    assert.equal(empty.requests() + full.requests(), 0);
  });
});
