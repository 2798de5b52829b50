import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LingeringListener } from '../../../../supervisor/store/lingering-listener.ts';
import type { ResourceVersion } from '../../../../supervisor/store/resource-store.ts';
import { listener } from '../../../support/parts/data-plane.ts';
import { stillThere } from '../../../support/peers/hostile/garbage.ts';

function versionOf(name: string): ResourceVersion<'listener'> {
  const routes = [{ name: 'of chains that go' }, { name: 'of chains that stay' }];
  const resolved = {
    resource: listener({}, []),
    namedFilters: [],
    inlineRoutes: routes,
    inlineScopes: [{ name: 'scopes', scopes: [] }],
  } as unknown as ResourceVersion<'listener'>['resolved'];
  const message = { name, filter_chains: [{ filters: [] }] };
  return { message, versionInfo: 'v1', lastUpdatedMs: 5, resolved };
}

describe('a version of a listener that drains', () => {
  it('is shown as it was, with the routes that are still in use', () => {
    const version = versionOf('web');
    const lingering = new LingeringListener(version, version.resolved.inlineRoutes.slice(0, 1));
    assert.deepEqual(lingering.message, version.message);
    assert.deepEqual([lingering.versionInfo, lingering.lastUpdatedMs], ['v1', 5]);
    assert.deepEqual(lingering.inline, {
      routes: [{ name: 'of chains that go' }],
      scopes: [{ name: 'scopes', scopes: [] }],
    });
    assert.equal(lingering.hasConnectionManager, true);
    assert.equal(lingering.hasDiscoveredFilter, false);
  });

  it('keeps neither its message nor what workers were sent', async () => {
    const kept: LingeringListener[] = [];
    const gone = Array.from({ length: 20 }, (_, index) => {
      const version = versionOf(`web_${index}`);
      kept.push(new LingeringListener(version));
      return [new WeakRef(version.message), new WeakRef(version.resolved)];
    });
    // A register of V8 may remember the last one.
    assert.ok((await stillThere(gone.flat())) <= 2);
    assert.equal(kept.length, gone.length);
  });
});
