import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import { formatProblem } from '../../../../supervisor/config/config-error.ts';
import { loadConfiguration } from '../../../../supervisor/start/load-configuration.ts';
import { checkFollowedFiles } from '../../../../supervisor/validation/followed-files.ts';
import { optionsOf } from '../../../support/options.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-followed-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function problemsOf(...parts: Parameters<typeof found>): Promise<string[]> {
  const problems = await found(...parts);
  return problems.map((problem) => formatProblem(problem).replaceAll(`${folder}/`, ''));
}

/**
 * What is found in a bootstrap with this below `dynamic_resources` and with these other sections.
 */
async function found(
  dynamic: string,
  rest = '',
  skipSecrets = false,
): Promise<Awaited<ReturnType<typeof checkFollowedFiles>>> {
  const configYaml = `node: {id: a, cluster: b}\ndynamic_resources: ${dynamic}\n${rest}`;
  const configuration = await loadConfiguration(
    optionsOf('--mode', 'validate', '--config-yaml', configYaml),
    systemClock,
  );
  const options = {
    unknownFields: 'warn',
    scriptFolders: [],
    refusesRepeatedKeys: false,
    skipSecrets,
  } as const;
  return await checkFollowedFiles(configuration, options);
}

const lds = (path: string): string => `{lds_config: {path_config_source: {path: ${path}}}}`;
const cds = (path: string): string => `cds_config: {path_config_source: {path: ${path}}}`;

const LISTENER = `resources:
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
  address: {socket_address: {address: 127.0.0.1, port_value: 1}}
`;
const manager = (rest: string): string => `${LISTENER}  filter_chains:
  - filters:
    - name: m
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: x
        ${rest}
        http_filters: [{name: r, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
`;

describe('Validation of files that the bootstrap names', () => {
  it('accepts good ones', async () => {
    assert.deepEqual(
      await problemsOf(lds(write('good.yaml', manager('route_config: {name: r}')))),
      [],
    );
    assert.deepEqual(await problemsOf(lds(write('none.yaml', 'resources: []'))), []);
  });

  it('reports an empty file, one that does not parse and one that is not there', async () => {
    assert.deepEqual(await problemsOf(lds(write('empty.yaml', ''))), [
      'empty.yaml:1:1: expected an object at the top of the document',
    ]);
    const [broken = ''] = await problemsOf(lds(write('broken.yaml', 'resources: [')));
    assert.match(broken, /^broken\.yaml:1:13: /);
    assert.deepEqual(await problemsOf(lds('/no/such.yaml')), [
      "--config-yaml:2:61: dynamic_resources.lds_config.path_config_source.path: paths must refer to an existing path in the system: '/no/such.yaml' does not exist",
    ]);
  });

  it('reports what is wrong with their resources, with the line', async () => {
    const path = write('bad.yaml', `${LISTENER}  trafic_direction: INBOUND\n- "@type": x/y\n`);
    const problems = await problemsOf(lds(path));
    assert.match(problems.join('\n'), /^bad\.yaml:6:12: resources\[1\].*unknown|could not/im);
  });

  it('follows what they name: routes, endpoints, clusters', async () => {
    const routes = write(
      'routes.yaml',
      `resources:
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: other
  virtual_hosts: [{name: v, domains: [], routes: []}]
`,
    );
    const source = `config_source: {path_config_source: {path: ${routes}}}`;
    const listeners = write('l.yaml', manager(`rds: {route_config_name: r, ${source}}`));
    const problems = await problemsOf(lds(listeners));
    assert.match(
      problems[0] ?? '',
      /^routes\.yaml:4:29: resources\[0\]\.virtual_hosts\[0\]\.domains/,
    );
    assert.match(
      problems.at(-1) ?? '',
      /^l\.yaml:.*there is no resource named 'r' in routes\.yaml$/,
    );
  });

  it('follows sources of settings of filters and of scopes', async () => {
    const settings = (type: string, fields: string): string =>
      `resources: [{"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig, name: f, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.${type}${fields}}}]`;
    const BUFFER = 'buffer.v3.Buffer';
    const problemsWith = async (text: string): Promise<string[]> => {
      const source = `{path_config_source: {path: ${write('ecds.yaml', text)}}}`;
      const types = `type_urls: [type.googleapis.com/envoy.extensions.filters.http.${BUFFER}]`;
      const filter = `{name: f, config_discovery: {config_source: ${source}, ${types}}}`;
      const listener = manager('route_config: {name: r}').replace(
        'http_filters: [',
        `http_filters: [${filter}, `,
      );
      return await problemsOf(lds(write('filtered.yaml', listener)));
    };
    assert.deepEqual(await problemsWith(settings(BUFFER, ', max_request_bytes: 1')), []);
    const [broken = ''] = await problemsWith(settings(BUFFER, ', max_request_bytes: 0'));
    assert.match(broken, /^ecds\.yaml:1:\d+: resources\[0\]\.typed_config\.max_request_bytes/);
    const [other = ''] = await problemsWith(settings('on_demand.v3.OnDemand', ''));
    assert.match(
      other,
      /^ecds\.yaml:1:.*filter config has type URL .*OnDemand but expect .*Buffer/,
    );
    const [unnamed = ''] = await problemsWith('resources: []');
    assert.match(unnamed, /^filtered\.yaml:.*there is no resource named 'f' in ecds\.yaml$/);

    const scopes = write('srds.yaml', 'resources: [{"@type": x/y}]');
    const scoped = `scoped_routes: {name: s, scope_key_builder: {fragments: [{header_value_extractor: {name: x, index: 0}}]}, rds_config_source: {path_config_source: {path: ${scopes}}}, scoped_rds: {scoped_rds_config_source: {path_config_source: {path: ${scopes}}}}}`;
    const [scope = ''] = await problemsOf(lds(write('scoped.yaml', manager(scoped))));
    assert.match(scope, /^srds\.yaml:1:\d+: resources\[0\]/);
  });

  it('knows the clusters of such files', async () => {
    const clusters = write(
      'c.yaml',
      'resources: [{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c}]',
    );
    const tcp = (cluster: string): string => `${LISTENER}  filter_chains:
  - filters:
    - name: t
      typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: x, cluster: ${cluster}}
`;
    const both = (path: string): string => `{${cds(clusters)}, ${lds(path).slice(1)}`;
    assert.deepEqual(await problemsOf(both(write('t.yaml', tcp('c')))), []);
  });

  it('refuses resources of another kind', async () => {
    const [problem = ''] = await problemsOf(`{${cds(write('kind.yaml', LISTENER))}}`);
    assert.match(
      problem,
      /^kind\.yaml:2:12: resources\[0\]\.@type: unexpected resource type envoy\.config\.listener/,
    );
  });

  it('warns of key files that a secret names before they are there', async () => {
    const secret = (key: string): string => `resources:
- "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
  name: s
  tls_certificate: {certificate_chain: {filename: ${key}}, private_key: {filename: ${key}}}
`;
    const tls = (path: string): string => `${LISTENER}  filter_chains:
  - filters: []
    transport_socket:
      name: t
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
        common_tls_context:
          tls_certificate_sds_secret_configs:
          - {name: s, sds_config: {path_config_source: {path: ${path}}}}
`;
    const severities = async (name: string, key: string): Promise<readonly string[]> => {
      const listener = write(`${name}-l.yaml`, tls(write(`${name}.yaml`, secret(key))));
      return (await found(lds(listener))).map(({ severity }) => severity);
    };
    assert.deepEqual(await severities('later', '/no/such.pem'), ['warning']);
    const damaged = write('damaged.pem', 'no key');
    assert.deepEqual(await severities('damaged', damaged), ['error']);
  });

  it('reads runtime layers', async () => {
    const layer = (root: string): string =>
      `layered_runtime: {layers: [{name: d, disk_layer: {symlink_root: ${root}, subdirectory: s}}]}`;
    mkdirSync(join(folder, 'runtime', 's'), { recursive: true });
    assert.deepEqual(await problemsOf('{}', layer(join(folder, 'runtime'))), []);
    const [problem = ''] = await problemsOf('{}', layer('/no/such/folder'));
    assert.match(
      problem,
      /^--config-yaml:3:\d+: layered_runtime\.layers\[0\]\.disk_layer\.symlink_root: cannot watch/,
    );
  });
});
