import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { systemClock } from '../../../shared/clock.ts';
import { formatProblem } from '../../../supervisor/config/config-error.ts';
import { loadConfiguration } from '../../../supervisor/load-configuration.ts';
import { checkFollowedFiles } from '../../../supervisor/validation/followed-files.ts';
import { optionsOf } from '../../support/options.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-followed-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Of a bootstrap with this below `dynamic_resources` and with these other sections. */
async function problemsOf(dynamic: string, rest = '', skipSecrets = false): Promise<string[]> {
  const configYaml = `node: {id: a, cluster: b}\ndynamic_resources: ${dynamic}\n${rest}`;
  const configuration = await loadConfiguration(
    optionsOf('--config-yaml', configYaml),
    systemClock,
  );
  const options = { unknownFields: 'warn', skipSecrets } as const;
  const problems = await checkFollowedFiles(configuration, options);
  return problems.map((problem) => formatProblem(problem).replaceAll(`${folder}/`, ''));
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
