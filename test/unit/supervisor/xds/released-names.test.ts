import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ResourceStore } from '../../../../supervisor/store/resource-store.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { discoverFilters } from '../../../../supervisor/xds/kinds/named-filters.ts';
import { discoverSecrets } from '../../../../supervisor/xds/kinds/named-secrets.ts';
import type { Interest } from '../../../../supervisor/xds/subscriptions/discovery-sources.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const SOURCE = { kind: 'ads' };
const KINDS = [
  ['filters', discoverFilters, { types: [], waits: true }],
  ['secrets', discoverSecrets, { kind: 'certificate' }],
] as const;

describe('statistics of what others name', () => {
  for (const [what, discover, fields] of KINDS) {
    it(`are there for ${what} from the first user to the last`, () => {
      const statStore = new StatStore();
      const options = {
        store: new ResourceStore(),
        statStore,
        clock: new ManualClock(),
        sources: {
          open: ({ stats }: Interest) => ({
            start: () => undefined,
            close: () => stats.release(),
          }),
        },
        apply: () => Promise.resolve([]),
        log: () => undefined,
      };
      const resources = discover(options as never);
      const uses = ['one', 'two', 'one'].map((name) =>
        resources.use({ key: name, name, source: SOURCE, ...fields } as never),
      );
      const names = (): readonly string[] => [...statStore.definitions()].map(({ name }) => name);
      assert.ok(names().some((name) => name.includes('.one.')));
      uses.forEach((use) => use.release());
      assert.deepEqual(names(), []);
    });
  }
});
