import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ConfigError } from '../../../../supervisor/config/config-error.ts';
import { errorsOf, load } from './load.ts';

interface Recorded {
  readonly config: string;
  /** What Envoy 1.40.0 said, without its debug text; null when it accepted. */
  readonly reference: string | null;
}

const golden = join(import.meta.dirname, '../../../../../test/unit/supervisor/config/golden');
const recorded = JSON.parse(
  readFileSync(join(golden, 'constraint-messages.json'), 'utf8'),
) as Recorded[];

describe('The first line of a refusal is what Envoy says of', () => {
  for (const { config, reference } of recorded) {
    it(config.slice(0, 200), async () => {
      const { problems } = await load(config);
      const failed = problems.some((problem) => problem.severity === 'error');
      const said = failed
        ? (new ConfigError('config_invalid', problems).message.split('\n')[0] ?? '')
        : null;
      assert.equal(said, reference);
    });
  }
});

describe('Constraints', () => {
  it('are all reported at once, each with its place', async () => {
    const text = [
      'static_resources:',
      '  clusters:',
      '  - connect_timeout: 0s',
      '    health_checks:',
      '    - timeout: 1s',
      '  listeners:',
      '  - name: l',
      '    filter_chains:',
      '    - filters:',
      '      - name: envoy.filters.network.tcp_proxy',
      '        typed_config:',
      '          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
      '          cluster: a',
    ].join('\n');
    assert.deepEqual(await errorsOf(text), [
      'test.yaml:3:5: static_resources.clusters[0].name: value length must be at least 1 characters',
      'test.yaml:3:22: static_resources.clusters[0].connect_timeout: value must be greater than 0s',
      'test.yaml:5:7: static_resources.clusters[0].health_checks[0].interval: value is required',
      'test.yaml:5:7: static_resources.clusters[0].health_checks[0].unhealthy_threshold: value is required',
      'test.yaml:5:7: static_resources.clusters[0].health_checks[0].healthy_threshold: value is required',
      'test.yaml:5:7: static_resources.clusters[0].health_checks[0]: one of http_health_check, tcp_health_check, grpc_health_check, custom_health_check is required',
      'test.yaml:11:9: static_resources.listeners[0].filter_chains[0].filters[0].typed_config.stat_prefix: value length must be at least 1 characters',
    ]);
  });

  it('say nothing of what is missing where something could not be read', async () => {
    assert.deepEqual(await errorsOf('admin: {address: {socket_address: {address: a, port: 1}}}'), [
      "test.yaml:1:48: admin.address.socket_address.port: no such field: 'port' in envoy.config.core.v3.SocketAddress (did you mean port_value?)",
    ]);
  });

  it('are not applied to typed metadata, which only filters read', async () => {
    const any = '{"@type": type.googleapis.com/envoy.config.core.v3.Address}';
    const text = `static_resources: {clusters: [{name: a, metadata: {typed_filter_metadata: {b: ${any}}}}]}`;
    assert.deepEqual(await errorsOf(text), []);
  });

  it('are not applied in a static listener that repeats a name, which is ignored with a warning', async () => {
    const any =
      '{"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, cluster: a}';
    const listener = `{name: l, filter_chains: [{filters: [{name: t, typed_config: ${any}}]}]}`;
    const { problems } = await load(`static_resources: {listeners: [{name: l}, ${listener}]}`);
    assert.deepEqual(
      problems.map((problem) => [problem.severity, problem.rule]),
      [['warning', 'repeated_listener']],
    );
  });
});

describe('Deprecated and unfinished parts of the API', () => {
  it('are warned of with their place', async () => {
    const { problems } = await load(
      'static_resources: {clusters: [{name: a, dns_refresh_rate: 5s, http2_protocol_options: {use_oghttp2_codec: true}}]}',
    );
    assert.deepEqual(
      problems.map((problem) => [problem.severity, problem.rule, problem.position?.column]),
      [
        ['warning', 'deprecated', 63],
        ['warning', 'work_in_progress', 107],
        ['warning', 'deprecated', 59],
      ],
    );
  });

  const rateLimit = (runtime: string): string =>
    `static_resources: {listeners: [{filter_chains: [{filters: [{name: h, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: s, route_config: {virtual_hosts: [{name: a, domains: ["*"], rate_limits: [{actions: [{dynamic_metadata: {descriptor_key: a, metadata_key: {key: b, path: [{key: c}]}}}]}]}]}}}]}]}]}\nlayered_runtime: {layers: [{name: s, static_layer: {${runtime}}}]}`;

  it('are refused where the API disallows them', async () => {
    const [error] = await errorsOf(rateLimit(''));
    assert.match(
      error ?? '',
      /Using deprecated option 'envoy\.config\.route\.v3\.RateLimit\.Action\.dynamic_metadata'/,
    );
  });

  for (const key of [
    'envoy.deprecated_features:envoy.config.route.v3.RateLimit.Action.dynamic_metadata',
    'envoy.features.enable_all_deprecated_features',
  ]) {
    it(`are allowed again by the runtime key ${key}`, async () => {
      assert.deepEqual(await errorsOf(rateLimit(`"${key}": true`)), []);
    });
  }
});
