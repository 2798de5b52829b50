import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatPlace } from '../../../../supervisor/config/problem.ts';
import { errorsOf, resolveConfig } from './resolve-text.ts';
import {
  bootstrapWith,
  CHECK,
  ROUND_ROBIN,
  PICK_FIRST,
  ROUTER,
  ownRateLimits,
  tunnel,
} from './bootstrap-with.ts';

const CHAIN = 'static_resources.listeners[0].filter_chains[0]';

const MANAGER = `${CHAIN}.filters[0].typed_config`;

const CLUSTER = 'static_resources.clusters[0]';

const FILTERS = 'type.googleapis.com/envoy.extensions.filters.http';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

const refused: readonly [bootstrap: object, place: string, message: string][] = [
  [
    bootstrapWith('chain', {
      transport_socket: {
        name: 'envoy.transport_sockets.alts',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.alts.v3.Alts',
          handshaker_service: 'a',
        },
      },
    }),
    `${CHAIN}.transport_socket.typed_config`,
    "transport socket 'envoy.transport_sockets.alts' of type 'envoy.extensions.transport_sockets.alts.v3.Alts' is not supported",
  ],
  [
    bootstrapWith('listener', { fcds_config: {} }),
    'static_resources.listeners[0].fcds_config',
    "field 'fcds_config' is not supported yet",
  ],
  [
    bootstrapWith('manager', {
      http_filters: [ownRateLimits({ apply_on_stream_done: true }), ROUTER],
    }),
    `${MANAGER}.http_filters[0].typed_config.rate_limits[0].apply_on_stream_done`,
    "field 'apply_on_stream_done' is not supported yet",
  ],
  [
    bootstrapWith('chain', { filters: [tunnel({ propagate_response_headers: true })] }),
    `${CHAIN}.filters[0].typed_config.tunneling_config.propagate_response_headers`,
    "field 'propagate_response_headers' is not supported yet",
  ],
  [
    bootstrapWith('cluster', {
      health_checks: [
        {
          ...CHECK,
          tcp_health_check: undefined,
          http_health_check: { path: '/', use_alpn_protocol: true },
        },
      ],
    }),
    `${CLUSTER}.health_checks[0].http_health_check.use_alpn_protocol`,
    "field 'use_alpn_protocol' is not supported yet",
  ],
  [
    bootstrapWith('cluster', {
      load_balancing_policy: { policies: [PICK_FIRST, ROUND_ROBIN] },
    }),
    `${CLUSTER}.load_balancing_policy.policies[0].typed_extension_config.typed_config`,
    `load balancing policy 'pick_first' of type 'envoy.extensions.load_balancing_policies.pick_first.v3.PickFirst' is not supported`,
  ],
  [
    bootstrapWith('cluster', {
      common_lb_config: { override_host_status: { statuses: ['HEALTHY'] } },
    }),
    `${CLUSTER}.common_lb_config.override_host_status.statuses`,
    'one of UNKNOWN and HEALTHY without the other is not supported yet',
  ],
  [
    bootstrapWith('cluster', {
      typed_extension_protocol_options: {
        [HTTP_OPTIONS]: {
          '@type': `type.googleapis.com/${HTTP_OPTIONS}`,
          explicit_http_config: { http_protocol_options: {} },
          http_filters: [
            { name: 'wasm', typed_config: { '@type': `${FILTERS}.wasm.v3.Wasm` } },
            { name: 'c', typed_config: { '@type': `${FILTERS}.upstream_codec.v3.UpstreamCodec` } },
          ],
        },
      },
    }),
    `${CLUSTER}.typed_extension_protocol_options.${HTTP_OPTIONS}.http_filters[0].typed_config`,
    "upstream HTTP filter 'wasm' of type 'envoy.extensions.filters.http.wasm.v3.Wasm' is not supported",
  ],
  [
    bootstrapWith('bootstrap', { header_prefix: 'x-a' }),
    'header_prefix',
    "field 'header_prefix' is not supported yet",
  ],
];

describe('what this build does not do', () => {
  for (const [bootstrap, place, message] of refused) {
    it(`is refused by name and place: ${message}`, async () => {
      const errors = await errorsOf(bootstrap);
      assert.deepEqual(
        errors.map((error) => ({
          place: formatPlace(error.place),
          message: error.message,
          rule: error.rule,
        })),
        [{ place, message, rule: 'unsupported' }],
      );
    });
  }

  it('is refused in the words of Envoy where that does not do it either', async () => {
    for (const [fields, message] of [
      [
        { limit: { dynamic_metadata: { metadata_key: { key: 'a', path: [{ key: 'b' }] } } } },
        "'limit' field is not supported",
      ],
      [{ disable_key: 'k' }, "'stage' field and 'disable_key' field are not supported"],
      [{ stage: 1 }, "'stage' field and 'disable_key' field are not supported"],
    ] as const) {
      const errors = await errorsOf(
        bootstrapWith('manager', { http_filters: [ownRateLimits(fields), ROUTER] }),
      );
      assert.deepEqual(
        errors.map((error) => [formatPlace(error.place), error.message]),
        [[`${MANAGER}.http_filters[0].typed_config.rate_limits[0]`, message]],
      );
    }
  });

  it('is no error where the field says what holds without it', async () => {
    assert.deepEqual(
      await errorsOf(bootstrapWith('manager', { strip_trailing_host_dot: false })),
      [],
    );
    assert.deepEqual(await errorsOf(bootstrapWith('cluster', { health_checks: [] })), []);
  });

  it('is named in a warning where TLS goes on without it', async () => {
    const cases = [
      ['chain', 'Downstream', 'full_scan_certs_on_sni_mismatch', CHAIN],
      ['cluster', 'Upstream', 'enforce_rsa_key_usage', CLUSTER],
    ] as const;
    for (const [part, side, field, place] of cases) {
      const type = `envoy.extensions.transport_sockets.tls.v3.${side}TlsContext`;
      const config = { '@type': `type.googleapis.com/${type}`, [field]: true };
      const socket = { name: 'envoy.transport_sockets.tls', typed_config: config };
      const outcome = await resolveConfig(bootstrapWith(part, { transport_socket: socket }));
      const { problems } = outcome.kind === 'invalid' ? outcome : outcome.resolution;
      const warned = problems.filter(({ severity }) => severity === 'warning');
      const places = warned.map((each) => formatPlace(each.place));
      assert.ok(
        places.includes(`${place}.transport_socket.typed_config.${field}`),
        places.join(' '),
      );
    }
  });

  it('is named in a warning where Envoy has no use for it either', async () => {
    const service = { grpc_service: { envoy_grpc: { cluster_name: 'c' } } };
    const check = { ...CHECK, alt_port: 1, event_service: service };
    const typed_config = { '@type': 'type.googleapis.com/google.protobuf.Empty' };
    const outcome = await resolveConfig(
      bootstrapWith('cluster', {
        health_checks: [check],
        outlier_detection: { monitors: [{ name: 'own', typed_config }] },
      }),
    );
    const { problems } = outcome.kind === 'invalid' ? outcome : outcome.resolution;
    const places = problems
      .filter(({ severity }) => severity === 'warning')
      .map((each) => formatPlace(each.place));
    assert.deepEqual(places, [
      `${CLUSTER}.health_checks[0].alt_port`,
      `${CLUSTER}.health_checks[0].event_service`,
      `${CLUSTER}.outlier_detection.monitors`,
    ]);
  });

  it('names what to write when a filter has no typed_config', async () => {
    const [error] = await errorsOf(
      bootstrapWith('manager', { http_filters: [{ name: 'envoy.filters.http.router' }] }),
    );
    assert.equal(
      error?.message,
      "Didn't find a registered implementation for 'envoy.filters.http.router' with type URL: ''",
    );
    assert.equal(
      error?.suggestion,
      'add typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}',
    );
  });

  it('reads extension configuration that is written as a TypedStruct', async () => {
    const filters = [
      {
        name: 'envoy.filters.http.router',
        typed_config: {
          '@type': 'type.googleapis.com/xds.type.v3.TypedStruct',
          type_url: 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
          value: { dynamic_stats: 5 },
        },
      },
    ];
    const errors = await errorsOf(bootstrapWith('manager', { http_filters: filters }));
    assert.equal(errors.length, 1);
    assert.match(formatPlace(errors[0]?.place), /http_filters\[0\]\.typed_config/);
    Object.assign(filters[0]!.typed_config, { value: { dynamic_stats: false } });
    assert.deepEqual(await errorsOf(bootstrapWith('manager', { http_filters: filters })), []);
  });
});
