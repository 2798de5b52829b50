/** The table of refused fields says what the resolvers do. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMessageTypes } from '../../../../supervisor/admin/message-types.ts';
import { fieldGroups } from '../../../../supervisor/features/field-groups.ts';
import { resolveBootstrap } from '../../../../supervisor/resources/bootstrap/resolve-bootstrap.ts';
import { readFieldGroups } from '../../../../scripts/pages/read-field-groups.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..', '..');
const groups = readFieldGroups(ROOT, createMessageTypes());
const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const MANAGER = {
  '@type': `type.googleapis.com/${HCM}`,
  stat_prefix: 'web',
  http_filters: [
    {
      name: 'envoy.filters.http.router',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
      },
    },
  ],
};
const LISTENER = {
  name: 'web',
  address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
};

type Fields = Readonly<Record<string, unknown>>;

/** A bootstrap in which a message of a kind has further fields. */
const AROUND: Readonly<Record<string, (fields: Fields) => object>> = {
  'envoy.config.bootstrap.v3.Bootstrap': (fields) => fields,
  'envoy.config.cluster.v3.Cluster': (fields) => ({
    static_resources: { clusters: [{ name: 'up', type: 'STATIC', ...fields }] },
  }),
  'envoy.config.listener.v3.Listener': (fields) => ({
    static_resources: { listeners: [{ ...LISTENER, filter_chains: [{ filters: [] }], ...fields }] },
  }),
  [HCM]: (fields) => withRoutes([], fields),
  'envoy.config.route.v3.RouteAction': (fields) =>
    withRoutes([{ match: { prefix: '/' }, route: { cluster: 'up', ...fields } }], {}),
  'envoy.config.route.v3.Route': (fields) =>
    withRoutes([{ match: { prefix: '/' }, ...fields }], {}),
};

function withRoutes(routes: readonly object[], fields: Fields): object {
  const virtualHosts = [{ name: 'all', domains: ['*'], routes }];
  const manager = { ...MANAGER, route_config: { virtual_hosts: virtualHosts }, ...fields };
  const filters = [{ name: 'hcm', typed_config: manager }];
  return { static_resources: { listeners: [{ ...LISTENER, filter_chains: [{ filters }] }] } };
}

test('the table is what the resolvers say now', () => {
  const listed = groups.filter(({ refused, harmless }) => refused.length + harmless.length > 0);
  assert.deepEqual(fieldGroups(), listed);
});

for (const [message, around] of Object.entries(AROUND)) {
  test(`each field of ${message} is refused where the table says so, and no other one`, async () => {
    const group = groups.find((each) => each.message === message);
    assert.ok(group !== undefined);
    const fields = createMessageTypes().find(message)?.fields ?? [];
    for (const { name } of fields) {
      const problems = await refusedWith(around({ [name]: true }));
      const isRefused = problems.includes(`field '${name}' is not supported yet`);
      assert.equal(isRefused, group.refused.includes(name), `${name}: ${problems.join('; ')}`);
    }
  });
}

async function refusedWith(bootstrap: object): Promise<readonly string[]> {
  const overrides = {
    serviceNode: '',
    serviceCluster: '',
    serviceZone: '',
    statsTags: [],
    disabledExtensions: new Set<string>(),
    skipSecrets: true,
    isForValidation: true,
  };
  try {
    const { problems } = await resolveBootstrap(bootstrap as never, overrides);
    return problems.map((problem) => problem.message);
  } catch (error) {
    // The value may be none of the field's type: then the field was read.
    return [String(error)];
  }
}
