import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  HTTP_CONNECTION_MANAGER,
  LISTENER_HTTP,
} from '../../../../shared/stats/templates/http-connection-manager.ts';
import { LISTENER } from '../../../../shared/stats/templates/listener.ts';
import { OrderedView } from '../../../../supervisor/stats/ordered-view.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { atOnce } from '../../../../supervisor/loop/loop-turns.ts';
import { defaultTagRules } from '../../../../supervisor/stats/tags/default-tag-rules.ts';
import { TagExtractor } from '../../../../supervisor/stats/tags/tag-extractor.ts';
import { TagGroups } from '../../../../supervisor/stats/tags/tag-groups.ts';
import { stillThere } from '../../../support/peers/hostile/garbage.ts';

const NAMES = 50;

describe('statistics that were removed', () => {
  it('leave nothing in the order of names', async () => {
    const store = new StatStore();
    const view = new OrderedView(store);
    store.hold(LISTENER, 'listener.web.');
    const shapes: WeakRef<object>[] = [];
    for (let name = 0; name < NAMES; name += 1) {
      const block = store.hold(LISTENER_HTTP, `listener.web.http.m_${name}.`);
      const [segment] = await view.segments();
      assert.equal(segment?.blocks.length, 2);
      shapes.push(new WeakRef(segment.shape));
      store.release(block);
    }
    assert.equal((await view.segments()).length, 1);
    assert.ok((await stillThere(shapes)) <= 1);
  });

  it('leave nothing among the groups by tags, where no rule takes a name for a value', async () => {
    const store = new StatStore();
    const groups = new TagGroups(new TagExtractor(defaultTagRules()), []);
    const made: WeakRef<object>[] = [];
    for (let name = 0; name < NAMES; name += 1) {
      const block = store.hold(HTTP_CONNECTION_MANAGER, `untagged.m_${name}.`);
      made.push(new WeakRef(atOnce(groups.groupOf(block)).group));
      store.release(block);
    }
    assert.ok((await stillThere(made)) <= 1);
  });
});
