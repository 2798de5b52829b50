/** `/config_dump` against recorded pages of Envoy, its parameters, and redaction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../../shared/api/well-known.ts';
import type { AdminContext } from '../../../../../supervisor/admin/admin-context.ts';
import { printMessage } from '../../../../../supervisor/admin/config-dump/print-fields.ts';
import { redact } from '../../../../../supervisor/admin/config-dump/redact.ts';
import { printJsonAt } from '../../../../../supervisor/admin/json-printer.ts';
import { createMessageTypes } from '../../../../../supervisor/admin/message-types.ts';
import { ask } from '../ask.ts';
import { fakeContext } from '../fake-context.ts';
import { golden } from '../golden.ts';
import { LAST_UPDATED_MS, SECRET, resource } from './dumped-resource.ts';

/** The configuration of the recorded page, with its secret as it was before redaction. */
function recordedContext(): AdminContext {
  const page = JSON.parse(golden('config-dump.json').replaceAll('[redacted]', SECRET)) as {
    readonly configs: readonly Record<string, readonly Record<string, JsonObject>[]>[];
  };
  const list = (field: string, member: string) => {
    const section = page.configs.find((candidate) => candidate[field] !== undefined);
    return (section?.[field] ?? []).map((element) => resource(element[member] ?? {}));
  };
  const bootstrap = page.configs[0]?.['bootstrap'] as unknown as JsonObject;
  const { config } = fakeContext().context;
  return fakeContext({
    config: {
      ...config,
      bootstrap: () => ({ message: bootstrap, lastUpdatedMs: LAST_UPDATED_MS }),
      clusters: () => ({ ...config.clusters(), static: list('static_clusters', 'cluster') }),
      listeners: () => ({ ...config.listeners(), static: list('static_listeners', 'listener') }),
      routes: () => ({
        isUsed: true,
        static: list('static_route_configs', 'route_config'),
        dynamic: [],
        inlineScopes: [],
        dynamicScopes: [],
      }),
      secrets: () => ({ ...config.secrets(), static: list('static_secrets', 'secret') }),
      endpoints: () => ({
        static: list('static_endpoint_configs', 'endpoint_config'),
        dynamic: [],
      }),
    },
  }).context;
}

test('the whole dump is what Envoy prints, redacted as it does', async () => {
  const page = await ask(recordedContext(), '/config_dump?include_eds');
  assert.equal(page.contentType, 'application/json');
  assert.equal(page.body, golden('config-dump.json'));
});

test('endpoints are part of the dump only with include_eds', async () => {
  const context = recordedContext();
  assert.doesNotMatch((await ask(context, '/config_dump')).body, /EndpointsConfigDump/);
  const refused = await ask(context, '/config_dump?resource=static_endpoint_configs');
  assert.deepEqual(
    [refused.status, refused.body],
    [404, 'static_endpoint_configs not found in config dump'],
  );
});

test('masks, resources and names narrow the dump as in Envoy', async () => {
  const cases = {
    'mask=bootstrap.node.id': 'config-dump-mask.json',
    'mask=bootstrap.node.locality,bootstrap.layered_runtime,last_updated':
      'config-dump-mask-two.json',
    'resource=static_clusters&mask=cluster.name': 'config-dump-resource-mask.json',
    'resource=static_clusters&name_regex=t.*&mask=cluster.lb_policy': 'config-dump-regex.json',
  };
  for (const [query, file] of Object.entries(cases)) {
    const page = await ask(recordedContext(), `/config_dump?${query}`);
    assert.equal(page.body, golden(file), query);
  }
});

const REFUSED: readonly (readonly [string, number, string])[] = [
  ['resource=nosuch', 404, 'nosuch not found in config dump'],
  [
    'resource=bootstrap',
    400,
    'bootstrap is not a repeated field. Use ?mask=bootstrap to get only this field',
  ],
  [
    'resource=version_info',
    400,
    'version_info is not a repeated field. Use ?mask=version_info to get only this field',
  ],
  [
    'mask=nosuch.field',
    400,
    'FieldMask nosuch.field could not be successfully applied to any configs.',
  ],
  [
    'mask=bootstrap.admin,static_clusters',
    400,
    'FieldMask bootstrap.admin,static_clusters could not be successfully applied to any configs.',
  ],
  [
    'mask=bootstrap.static_resources.listeners.name',
    400,
    'FieldMask bootstrap.static_resources.listeners.name could not be successfully applied to any configs.',
  ],
  [
    'resource=static_clusters&mask=nosuch',
    400,
    'FieldMask goo.gle/debugproto\npaths: "nosuch"\n could not be successfully used.',
  ],
  [
    'resource=static_clusters&mask=cluster.metadata.filter_metadata.team',
    400,
    'FieldMask goo.gle/debugproto\npaths: "cluster.metadata.filter_metadata.team"\n could not be successfully used.',
  ],
  ['name_regex=%5B', 400, 'INVALID_ARGUMENT: Error while parsing name_regex from [: missing ]: ['],
];

test('wrong parameters are refused with the texts of Envoy', async () => {
  for (const [query, status, text] of REFUSED) {
    const answer = await ask(recordedContext(), `/config_dump?${query}`);
    assert.deepEqual(
      [answer.status, answer.body, answer.contentType],
      [status, text, 'text/plain'],
    );
  }
});

test('a resource without elements is an empty object', async () => {
  for (const query of [
    'resource=dynamic_active_clusters',
    'resource=static_clusters&name_regex=o',
  ]) {
    assert.equal((await ask(recordedContext(), `/config_dump?${query}`)).body, '{}\n');
  }
});

test('a name must match whole, and sections without a match stay with their type', async () => {
  const page = JSON.parse((await ask(recordedContext(), '/config_dump?name_regex=alph')).body) as {
    configs: readonly JsonObject[];
  };
  assert.deepEqual(page.configs[1], {
    '@type': 'type.googleapis.com/envoy.admin.v3.ClustersConfigDump',
  });
});

test('dynamic listeners show their states, and refusals why', async () => {
  const { config } = fakeContext().context;
  const listener = resource({
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name: 'dyn',
  });
  const { context } = fakeContext({
    config: {
      ...config,
      listeners: () => ({
        versionInfo: 'l2',
        static: [],
        dynamic: [
          {
            name: 'dyn',
            active: { ...listener, versionInfo: 'l1' },
            error: { details: 'no route', lastAttemptMs: LAST_UPDATED_MS },
          },
        ],
      }),
    },
  });
  const page = JSON.parse((await ask(context, '/config_dump?resource=dynamic_listeners')).body) as {
    configs: readonly unknown[];
  };
  assert.deepEqual(page.configs, [
    {
      '@type': 'type.googleapis.com/envoy.admin.v3.ListenersConfigDump.DynamicListener',
      name: 'dyn',
      active_state: {
        version_info: 'l1',
        listener: listener.message,
        last_updated: '2026-01-02T03:04:05.678Z',
      },
      error_state: {
        last_update_attempt: '2026-01-02T03:04:05.678Z',
        details: 'no route',
      },
    },
    {
      '@type': 'type.googleapis.com/envoy.admin.v3.ListenersConfigDump.DynamicListener',
      error_state: { details: 'no route' },
    },
  ]);
});

test('name_regex picks among the scopes of a connection manager, whatever that is called', async () => {
  const scope = (name: string): JsonObject => ({
    '@type': 'type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration',
    name,
  });
  const scopes = { ...resource({ scoped_route_configs: [scope('one'), scope('two')] }), name: 's' };
  const { config } = fakeContext().context;
  const { context } = fakeContext({
    config: {
      ...config,
      routes: () => ({ ...config.routes(), isUsed: true, inlineScopes: [scopes] }),
    },
  });
  const shown = async (pattern: string): Promise<unknown> => {
    const query = `resource=inline_scoped_route_configs&name_regex=${pattern}`;
    const { body } = await ask(context, `/config_dump?${query}`);
    const { configs } = JSON.parse(body) as { readonly configs: readonly JsonObject[] };
    return configs.map(({ scoped_route_configs }) => scoped_route_configs);
  };
  assert.deepEqual(await shown('one'), [[scope('one')]]);
  assert.deepEqual(await shown('s'), [undefined]);
});

test('a large message is printed in small pieces as it is printed whole, and redacted', () => {
  const types = createMessageTypes();
  const typeName = 'envoy.config.cluster.v3.Cluster';
  const certificate = { private_key: { inline_string: SECRET } };
  const tls = 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
  const host = {
    endpoint: { address: { socket_address: { address: '10.0.0.1', port_value: 80 } } },
  };
  const cluster: JsonObject = {
    '@type': `type.googleapis.com/${typeName}`,
    name: 'large',
    load_assignment: {
      cluster_name: 'large',
      endpoints: [{ lb_endpoints: Array.from({ length: 500 }, () => host) }],
    },
    transport_socket: {
      name: 'tls',
      typed_config: {
        '@type': `type.googleapis.com/${tls}`,
        common_tls_context: { tls_certificates: Array.from({ length: 200 }, () => certificate) },
      },
    },
  };
  const pieces = [...printMessage(types, { typeName, depth: 2 }, cluster)];
  assert.equal(pieces.join(''), printJsonAt(redact(types, typeName, cluster), 2));
  assert.ok(pieces.length > 700 && pieces.every(({ length }) => length < 4096));
  assert.doesNotMatch(pieces.join(''), new RegExp(SECRET));
});
