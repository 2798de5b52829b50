import { createHash } from 'node:crypto';
import { httpListener, staticCluster } from '../support/parts/bootstrap.ts';

/** Configuration in which one name stands wherever a name from outside may stand. */

const PASSWORD_DIGEST = createHash('sha1').update('Test').digest('base64');

const TYPE = 'type.googleapis.com/envoy.extensions';

const HTTP = `${TYPE}.filters.http`;

const ROUTER = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };

const ALWAYS = { default_value: { numerator: 100 } };

function record(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries) as object;
}

/** An object with one member, whatever its name is. */
function one(name: string, value: unknown): object {
  return record([[name, value]]);
}

function filter(name: string, type: string, config: object): object {
  return { name, typed_config: { '@type': `${HTTP}.${type}`, ...config } };
}

/** Each with the settings that the route gives to a filter of that name, where it has some. */
export const FILTERS: Readonly<Record<string, (name: string) => readonly [object, object?]>> = {
  rbac: (name) => [
    filter(name, 'rbac.v3.RBAC', {
      rules: {
        action: 'DENY',
        policies: one(name, { permissions: [{ any: true }], principals: [{ any: true }] }),
      },
    }),
  ],
  rate: (name) => [
    filter(name, 'local_ratelimit.v3.LocalRateLimit', {
      stat_prefix: name,
      token_bucket: { max_tokens: 1, fill_interval: '600s' },
      filter_enabled: ALWAYS,
      filter_enforced: ALWAYS,
    }),
  ],
  csrf: (name) => [filter(name, 'csrf.v3.CsrfPolicy', { filter_enabled: ALWAYS })],
  fault: (name) => [
    filter(name, 'fault.v3.HTTPFault', {
      abort: { http_status: 418, percentage: { numerator: 100 } },
    }),
  ],
  buffer: (name) => [filter(name, 'buffer.v3.Buffer', { max_request_bytes: 3 })],
  users: (name) => [
    filter(name, 'basic_auth.v3.BasicAuth', {
      users: { inline_string: `${name}:{SHA}${PASSWORD_DIGEST}` },
    }),
  ],
  cors: (name) => [filter(name, 'cors.v3.Cors', {})],
  route: (name) => [
    filter(name, 'fault.v3.HTTPFault', {}),
    {
      '@type': `${HTTP}.fault.v3.HTTPFault`,
      abort: { http_status: 419, percentage: { numerator: 100 } },
    },
  ],
  off: (name) => [
    filter(name, 'fault.v3.HTTPFault', {
      abort: { http_status: 418, percentage: { numerator: 100 } },
    }),
    { '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig', disabled: true },
  ],
};

export function filterListener(kind: string, name: string): object {
  const [own, ofRoute] = FILTERS[kind]?.(name) ?? [{}];
  const route = {
    match: { prefix: '/' },
    route: { cluster: name },
    ...(ofRoute && { typed_per_filter_config: one(name, ofRoute) }),
  };
  return httpListener([route], {
    name: `${kind}-${name}`,
    statPrefix: name,
    hcm: { http_filters: [own, ROUTER] },
  });
}

const told = (name: string): readonly object[] =>
  [
    `%DYNAMIC_METADATA(${name})%|%DYNAMIC_METADATA(${name}:${name})%`,
    `%DYNAMIC_METADATA(absent:${name})%|%DYNAMIC_METADATA(there:${name})%`,
    `%METADATA(ROUTE:${name}:${name})%|%METADATA(ROUTE:there:${name})%`,
    `%METADATA(CLUSTER:${name}:${name})%|%METADATA(CLUSTER:there:${name})%`,
    `%METADATA(VIRTUAL_HOST:${name}:${name})%|%UPSTREAM_METADATA(${name}:${name})%`,
    `%REQ(${name})%|%QUERY_PARAM(${name})%|%FILTER_STATE(${name}:PLAIN)%|%ENVIRONMENT(${name})%`,
  ].map((value, index) => ({
    header: { key: `x-told-${index}`, value },
    append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
    keep_empty_value: true,
  }));

const metadataOf = (name: string): object => ({
  filter_metadata: Object.fromEntries([
    ['there', { other: 'x' }],
    [name, one(name, one(name, name))],
  ]),
});

function routesOf(name: string): readonly object[] {
  const body = (text: string): object => ({
    direct_response: { status: 200, body: { inline_string: text } },
  });
  const subset = { filter_metadata: { 'envoy.lb': one(name, 'a') } };
  return [
    { match: { prefix: '/header', headers: [{ name, exact_match: 'v' }] }, ...body('header') },
    {
      match: { prefix: '/query', query_parameters: [{ name, string_match: { exact: 'v' } }] },
      ...body('query'),
    },
    {
      match: {
        prefix: '/dynamic',
        dynamic_metadata: [
          { filter: name, path: [{ key: name }], value: { string_match: { exact: name } } },
        ],
      },
      ...body('dynamic'),
    },
    {
      match: {
        prefix: '/runtime',
        runtime_fraction: { default_value: { numerator: 100 }, runtime_key: name },
      },
      ...body('runtime'),
    },
    { match: { prefix: '/subset' }, route: { cluster: `subset-${name}`, metadata_match: subset } },
    { match: { prefix: '/none' }, route: { cluster: 'bare', metadata_match: subset } },
    { match: { prefix: '/by-header' }, route: { cluster_header: name } },
    {
      match: { prefix: '/hash' },
      route: {
        cluster: name,
        hash_policy: [{ header: { header_name: name } }, { cookie: { name } }],
        retry_policy: { retry_on: name },
      },
    },
    { name, match: { prefix: '/' }, route: { cluster: name }, metadata: metadataOf(name) },
  ];
}

export function generalListener(name: string): object {
  const format = record([
    [name, `%REQ(${name})%`],
    ['all', '%DYNAMIC_METADATA(there)%'],
    ['inner', one(name, `%METADATA(ROUTE:${name})%`)],
    ['status', '%RESPONSE_CODE%'],
  ]);
  return httpListener([], {
    name,
    statPrefix: name,
    hcm: {
      route_config: {
        name,
        response_headers_to_add: told(name),
        virtual_hosts: [
          { name, domains: ['*'], routes: routesOf(name), metadata: metadataOf(name) },
        ],
      },
      access_log: [
        {
          name,
          typed_config: {
            '@type': `${TYPE}.access_loggers.file.v3.FileAccessLog`,
            path: name,
            log_format: { json_format: format },
          },
        },
      ],
      http_filters: [
        filter('meta', 'set_metadata.v3.Config', {
          metadata: [
            { metadata_namespace: name, value: one(name, name) },
            { metadata_namespace: 'there', value: { other: 1 } },
            { metadata_namespace: 'there', allow_overwrite: true, value: one('more', [1]) },
          ],
        }),
        ROUTER,
      ],
    },
  });
}

export function clustersOf(name: string, port: number): readonly object[] {
  const host = (value: object): object => ({
    endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: port } } },
    metadata: { filter_metadata: { 'envoy.lb': value } },
  });
  return [
    staticCluster(name, [port], { metadata: metadataOf(name), alt_stat_name: name }),
    staticCluster(`subset-${name}`, [port], {
      load_assignment: {
        cluster_name: name,
        endpoints: [{ lb_endpoints: [host(one(name, 'a')), host({ other: 'b' })] }],
      },
      lb_subset_config: {
        fallback_policy: 'NO_FALLBACK',
        subset_selectors: [{ keys: [name] }],
      },
    }),
  ];
}

export function bareCluster(port: number, names: readonly string[]): object {
  return staticCluster('bare', [port], {
    lb_subset_config: {
      fallback_policy: 'NO_FALLBACK',
      subset_selectors: names.map((name) => ({ keys: [name] })),
    },
  });
}
