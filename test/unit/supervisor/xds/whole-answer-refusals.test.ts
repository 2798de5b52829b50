import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ResourceStore } from '../../../../supervisor/store/resource-store.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { discoverRoutes } from '../../../../supervisor/xds/kinds/named-routes.ts';
import { discoverScopes } from '../../../../supervisor/xds/kinds/named-scopes.ts';
import { discoverSecrets } from '../../../../supervisor/xds/kinds/named-secrets.ts';
import type { DiscoveryConsumer } from '../../../../supervisor/xds/subscriptions/discovery-update.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

interface Case {
  readonly kind: keyof typeof DISCOVERIES;
  readonly names: readonly string[];
  readonly words: string;
  readonly logged: readonly string[];
}

const DISCOVERIES = { routes: discoverRoutes, scopes: discoverScopes, secrets: discoverSecrets };

/** In Envoy's words, which its log has a second time for these. */
const CASES: readonly Case[] = [
  {
    kind: 'routes',
    names: ['other'],
    words: 'Unexpected RDS configuration (expecting own): other',
    logged: [
      "rds: route config 'own' rejected: Unexpected RDS configuration (expecting own): other",
    ],
  },
  {
    kind: 'routes',
    names: ['own', 'other'],
    words: 'Unexpected RDS resource length: 2',
    logged: ["rds: route config 'own' rejected: Unexpected RDS resource length: 2"],
  },
  {
    kind: 'scopes',
    names: ['a', 'a'],
    words: "Error adding/updating scoped route(s): duplicate scoped route configuration 'a' found",
    logged: [],
  },
  {
    kind: 'secrets',
    names: [],
    words: 'Missing SDS resources for own in onConfigUpdate()',
    logged: [
      "sds: secret 'own' config rejected: Missing SDS resources for own in onConfigUpdate()",
    ],
  },
  {
    kind: 'secrets',
    names: ['own', 'other'],
    words:
      'Unexpected SDS secrets length for own, number of added resources 2, number of removed resources 0. Expected sum is 1',
    logged: [
      "sds: secret 'own' config rejected: Unexpected SDS secrets length for own, number of added resources 2, number of removed resources 0. Expected sum is 1",
    ],
  },
  {
    kind: 'secrets',
    names: ['other'],
    words: 'Unexpected SDS secret (expecting own): other',
    logged: ["sds: secret 'own' config rejected: Unexpected SDS secret (expecting own): other"],
  },
];

/** What an answer with resources of these names is refused with, and what the log says of it. */
async function refusalOf({ kind, names }: Case): Promise<{ words: unknown; logged: string[] }> {
  const opened: DiscoveryConsumer[] = [];
  const logged: string[] = [];
  const options = {
    store: new ResourceStore(),
    clock: new ManualClock(),
    statStore: new StatStore(),
    sources: {
      open: ({ consumer }: { readonly consumer: DiscoveryConsumer }) => {
        opened.push(consumer);
        return { start: () => undefined, close: () => undefined };
      },
    },
    apply: () => Promise.resolve([]),
    log: (_: string, text: string) => logged.push(text),
  };
  const named = { key: 'own', name: 'own', statPrefix: 'web', source: { kind: 'ads' } };
  const discover = DISCOVERIES[kind] as (given: unknown) => { use(one: unknown): unknown };
  discover(options).use(named);
  const [consumer] = opened;
  const resources = names.map((name) => ({ name, versionInfo: '1', message: { name } }));
  const update = { versionInfo: '1', resources, removed: [] };
  return { words: await consumer?.update(update), logged };
}

describe('an answer that is wrong as a whole', () => {
  for (const each of CASES) {
    const named = each.names.join(' and ') || 'nothing';
    it(`is refused when it brings ${named} as ${each.kind}`, async () => {
      assert.deepEqual(await refusalOf(each), { words: each.words, logged: each.logged });
    });
  }
});
