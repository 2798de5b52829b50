/**
 * Names that are members of Object.prototype, wherever a configuration or a request may name
 * something: they behave as any other name does. One program has a set of listeners for each name,
 * and what the set of a peculiar name answers must be what that of an ordinary one answers.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../support/parts/bootstrap.ts';
import { attackRuns } from '../support/attack.ts';
import { fetchOnce } from '../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../support/programs/sluice.ts';
import { startHttpUpstream, type HttpUpstream } from '../support/peers/upstream.ts';
import { waitUntil } from '../support/wait.ts';

const ORDINARY = 'ordinary';
const INHERITED = [
  '__proto__',
  'constructor',
  'toString',
  ...Object.getOwnPropertyNames(Object.prototype),
];
const FURTHER = ['prototype', 'toJSON', 'defineProperties'];
const NAMES = [...new Set([...INHERITED, ...FURTHER])].slice(0, attackRuns(4, 50));

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
const FILTERS: Readonly<Record<string, (name: string) => readonly [object, object?]>> = {
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

function filterListener(kind: string, name: string): object {
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

function generalListener(name: string): object {
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

function clustersOf(name: string, port: number): readonly object[] {
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

function bareCluster(port: number, names: readonly string[]): object {
  return staticCluster('bare', [port], {
    lb_subset_config: {
      fallback_policy: 'NO_FALLBACK',
      subset_selectors: names.map((name) => ({ keys: [name] })),
    },
  });
}

/** What one name's listeners answer, with the name itself taken out. */
async function transcript(sluice: Sluice, name: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const plain = (text: string): string =>
    text.replaceAll(name, 'NAME').replaceAll(name.toLowerCase(), 'NAME');
  const ask = async (listener: string, question: object): Promise<void> => {
    const port = await sluice.listenerPort(listener);
    const { status, headers, body } = await fetchOnce({ port, ...question });
    const shown = Object.entries(headers).filter(([key]) => key.startsWith('x-told'));
    lines.push(
      plain(`${listener} ${JSON.stringify(question)}: ${status} ${JSON.stringify(shown)} ${body}`),
    );
  };
  const header = Object.fromEntries([[name, 'v']]) as Record<string, string>;
  for (const kind of Object.keys(FILTERS)) {
    const post = { method: 'POST', body: '12345', headers: { origin: 'http://a.test' } };
    await ask(`${kind}-${name}`, {});
    await ask(`${kind}-${name}`, post);
  }
  const authorization = `Basic ${Buffer.from(`${name}:Test`).toString('base64')}`;
  const allowed = await fetchOnce({
    port: await sluice.listenerPort(`users-${name}`),
    headers: { authorization },
  });
  lines.push(`password: ${allowed.status}`);
  for (const path of [
    '/',
    '/header',
    '/dynamic',
    '/runtime',
    '/subset',
    '/none',
    '/by-header',
    '/hash',
  ]) {
    await ask(name, { path });
    await ask(name, { path, headers: header });
    await ask(name, { path: `${path}?${name}=v`, headers: { cookie: `${name}=v` } });
  }
  await ask(name, { path: `/query?${name}=v` });
  const log = await waitUntil('the access log', () => {
    const text = readFileSync(sluice.scratch.file(name), 'utf8');
    return text.split('\n').length > 25 ? text : undefined;
  });
  for (const line of log.split('\n').filter((each) => each !== '')) {
    const members = Object.entries(JSON.parse(line) as object);
    // Members stand in the order of their names.
    lines.push(...members.map((member) => plain(JSON.stringify(member))).sort());
  }
  return lines;
}

/** Questions to the admin interface, each with the name where a name may stand. */
const ADMIN_QUESTIONS: readonly ((name: string) => string)[] = [
  (name) => `/${name}`,
  (name) => `/logging?${name}=debug`,
  (name) => `/logging?level=${name}`,
  (name) => `/logging?paths=${name}:debug`,
  (name) => `/config_dump?resource=${name}`,
  (name) => `/config_dump?mask=${name}`,
  (name) => `/config_dump?resource=static_listeners&mask=${name}.${name}`,
  (name) => `/stats?format=${name}`,
  (name) => `/stats?type=${name}`,
  (name) => `/stats?histogram_buckets=${name}`,
  (name) => `/runtime_modify?${name}=7`,
  (name) => `/clusters?format=${name}`,
  (name) => `/listeners?${name}=${name}`,
  (name) => `/cpuprofiler?enable=${name}`,
];

describe('names that are members of Object.prototype', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;

  before(async () => {
    upstream = await startHttpUpstream();
    const names = [ORDINARY, ...NAMES];
    const start = bootstrap({
      listeners: names.flatMap((name) => [
        generalListener(name),
        ...Object.keys(FILTERS).map((kind) => filterListener(kind, name)),
      ]),
      clusters: [
        ...names.flatMap((name) => clustersOf(name, upstream.port)),
        bareCluster(upstream.port, names),
      ],
    });
    const values = Object.fromEntries(names.map((name) => [name, 0]));
    sluice = await startSluice({
      args: ['--file-flush-interval-msec', '10'],
      bootstrap: {
        ...start,
        node: { id: 'n', cluster: 'c', metadata: values },
        layered_runtime: {
          layers: [
            ...names.map((name) => ({ name, static_layer: values })),
            { name: 'admin', admin_layer: {} },
          ],
        },
      },
    });
  });

  after(async () => {
    await sluice.stop();
    await upstream[Symbol.asyncDispose]();
  });

  it('behave on the way of requests as an ordinary name does', async () => {
    const expected = await transcript(sluice, ORDINARY);
    assert.ok(expected.some((line) => line.startsWith('rbac') && line.includes(': 403')));
    assert.ok(expected.includes('password: 200'));
    for (const name of NAMES) assert.deepEqual(await transcript(sluice, name), expected, name);
  });

  it('behave on the admin interface as an ordinary name does', async () => {
    for (const question of ADMIN_QUESTIONS) {
      const answer = async (name: string): Promise<string> => {
        const { status, body } = await sluice.admin({ method: 'POST', path: question(name) });
        return [ORDINARY, ...NAMES].reduce(
          (text, each) => text.replaceAll(each, 'NAME'),
          `${status} ${body}`,
        );
      };
      const expected = await answer(ORDINARY);
      for (const name of NAMES) assert.equal(await answer(name), expected, question(name));
    }
  });

  it('are in the dump, in the runtime and in statistics', async () => {
    const dump = (await sluice.admin('/config_dump')).body;
    const runtime = JSON.parse((await sluice.admin('/runtime')).body) as { entries: object };
    const stats = await sluice.stats('filter=downstream_cx_total');
    for (const name of [ORDINARY, ...NAMES]) {
      const count = (text: string, part: string): number => text.split(part).length;
      assert.equal(count(dump, `"${name}"`), count(dump, `"${ORDINARY}"`), name);
      assert.ok(Object.hasOwn(runtime.entries, name), name);
      assert.ok(stats.includes(`http.${name}.downstream_cx_total`), name);
    }
  });
});
