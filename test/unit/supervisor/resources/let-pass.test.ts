import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  GREETING,
  bootstrap,
  httpListener,
  staticCluster,
} from '../../../support/parts/bootstrap.ts';
import { zstd } from '../../../../shared/process/zstd.ts';
import { resolveConfig } from './resolve-text.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` },
};
const HTTP2 = { http2_protocol_options: {} };
const FROM_CONTROL_PLANE = {
  node: { id: 'n', cluster: 'c' },
  dynamic_resources: {
    lds_config: { resource_api_version: 'V3', path_config_source: { path: '/dev/null' } },
  },
};

function compressor(library: string): object {
  const config = { '@type': `${TYPE}.compression.${library}` };
  return {
    name: 'compressor',
    typed_config: {
      '@type': `${TYPE}.filters.http.compressor.v3.Compressor`,
      compressor_library: { name: 'library', typed_config: config },
    },
  };
}

function withFilter(filter: object): object {
  return bootstrap({
    listeners: [httpListener(GREETING, { hcm: { http_filters: [filter, ROUTER] } })],
  });
}

describe('what control planes put everywhere', () => {
  // Where the runtime has it, it is served: test/integration/compression/zstd.test.ts.
  const passed =
    zstd === undefined
      ? ([['compression with zstd', compressor('zstd.compressor.v3.Zstd')]] as const)
      : [];
  for (const [title, filter] of passed) {
    it(`is let pass with a warning and does nothing: ${title}`, async () => {
      const outcome = await resolveConfig(withFilter(filter));
      assert.equal(outcome.kind, 'resolved');
      const { problems, bootstrap: resolved } = outcome.resolution;
      assert.deepEqual(
        problems.map(({ severity, rule }) => [severity, rule]),
        [['warning', 'no_effect']],
      );
      const [chain] = resolved?.listeners[0]?.resource.filterChains ?? [];
      const [manager] = chain?.networkFilters ?? [];
      assert.ok(manager?.kind === 'http_connection_manager');
      assert.deepEqual(
        manager.filters.map(({ kind }) => kind),
        ['router'],
      );
    });
  }

  it('goes by other versions of HTTP where HTTP/3 is offered beside them', async () => {
    const cache = {
      name: 'cache',
      typed_config: {
        '@type': `${TYPE}.filters.http.alternate_protocols_cache.v3.FilterConfig`,
        alternate_protocols_cache_options: { name: 'c' },
      },
    };
    const auto = {
      '@type': `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
      auto_config: { http3_protocol_options: {}, alternate_protocols_cache_options: { name: 'c' } },
    };
    const quic = {
      name: 'envoy.transport_sockets.quic',
      typed_config: {
        '@type': `${TYPE}.transport_sockets.quic.v3.QuicUpstreamTransport`,
        upstream_tls_context: { sni: 'host.example' },
      },
    };
    const fields = {
      transport_socket: quic,
      typed_extension_protocol_options: {
        'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': auto,
      },
    };
    const outcome = await resolveConfig(
      bootstrap({
        listeners: [httpListener(GREETING, { hcm: { http_filters: [cache, ROUTER] } })],
        clusters: [staticCluster('up', [1], fields)],
      }),
    );
    assert.equal(outcome.kind, 'resolved');
    const { problems, bootstrap: resolved } = outcome.resolution;
    assert.deepEqual(new Set(problems.map(({ rule }) => rule)), new Set(['no_effect']));
    const [cluster] = resolved?.clusters ?? [];
    assert.equal(cluster?.resource.upstreamHttp.protocol, 'AUTO');
  });

  it('is taken as it is meant: a listener filter that leaves ports out', async () => {
    const range = { destination_port_range: { start: 80, end: 81 } };
    const filter = {
      name: 'envoy.filters.listener.tls_inspector',
      typed_config: { '@type': `${TYPE}.filters.listener.tls_inspector.v3.TlsInspector` },
      filter_disabled: { or_match: { rules: [range, { not_match: { any_match: true } }] } },
    };
    const listener = httpListener(GREETING, { listener: { listener_filters: [filter] } });
    const outcome = await resolveConfig(bootstrap({ listeners: [listener] }));
    assert.equal(outcome.kind, 'resolved');
    assert.deepEqual(outcome.resolution.bootstrap?.listeners[0]?.resource.listenerFilters, [
      {
        kind: 'tls_inspector',
        disabled: {
          kind: 'or',
          rules: [
            { kind: 'range', start: 80, end: 81 },
            { kind: 'not', rule: { kind: 'any' } },
          ],
        },
      },
    ]);
  });
});

describe('a static cluster of HTTP/2', () => {
  const clusters = [staticCluster('logs', [1], HTTP2)];

  for (const [title, config] of [
    ['listeners come from a control plane', bootstrap({ clusters }, FROM_CONTROL_PLANE)],
    ['nobody names it', bootstrap({ clusters })],
    [
      'a listener routes to it',
      bootstrap(
        {
          clusters,
          listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'logs' } }])],
        },
        FROM_CONTROL_PLANE,
      ),
    ],
  ] as const) {
    it(`is taken where ${title}`, async () => {
      const outcome = await resolveConfig(config);
      assert.equal(outcome.kind, 'resolved');
      const [cluster] = outcome.resolution.bootstrap?.clusters ?? [];
      assert.equal(cluster?.resource.upstreamHttp.protocol, 'HTTP2');
    });
  }
});
