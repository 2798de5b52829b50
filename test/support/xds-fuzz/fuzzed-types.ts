/**
 * All types of resources for a fuzz of updates: a configuration whose every part changes, and by
 * whose traffic and admin pages each change is seen.
 */
import { GREETING, httpListener } from '../parts/bootstrap.ts';
import type { TestCertificate } from '../parts/certificates.ts';
import { resource } from '../peers/discovery-files.ts';
import { fetchOnce, type Ask } from '../peers/http-client.ts';
import type { Sluice } from '../programs/sluice.ts';
import { askSecurely, secretMessage, secureListener, tlsSocket } from '../parts/tls.ts';
import { fuzzedType, type FuzzedType, type Pick } from './fuzzed-type.ts';

export interface FuzzedParts {
  /** `config_source` of everything. */
  readonly source: object;
  readonly isDelta: boolean;
  /** The ports of upstreams, each with its name as its answer. */
  readonly upstreams: Readonly<Record<'one' | 'two', number>>;
  /** With their names as common names. */
  readonly certificates: Readonly<Record<'first' | 'second', TestCertificate>>;
}

const API = 'type.googleapis.com/envoy';
const FILTERS = `${API}.extensions.filters.http`;
const MUTATION = `${FILTERS}.header_mutation.v3.HeaderMutation`;
/** New connections of a look: enough that each worker has some. */
const CONNECTIONS = 8;

export function fuzzedTypes(parts: FuzzedParts): readonly FuzzedType[] {
  const all = [clusters(parts), endpoints(parts), listeners(parts), routes(parts), scopes()];
  all.push(secrets(parts), layers(), filters());
  return parts.isDelta ? [...all, virtualHosts()] : all;
}

/** The layer that `layers` speaks of. */
export function fuzzedRuntime(source: object): object {
  return { layers: [{ name: 'fuzzed', rtds_layer: { name: 'fuzzed', rtds_config: source } }] };
}

type Timeouts = Readonly<Record<string, number>>;

function clusters({ source }: FuzzedParts): FuzzedType {
  const named = (name: string, seconds: number): object =>
    resource.cluster({
      name,
      connect_timeout: `${seconds}s`,
      ...(name === 'up'
        ? { type: 'EDS', eds_cluster_config: { eds_config: source } }
        : { type: 'STATIC' }),
    });
  return fuzzedType<Timeouts>({
    kind: 'cluster.v3.Cluster',
    first: { up: 1 },
    next: (pick) => {
      const names = Array.from({ length: pick(8) }, () => `c${pick(12)}`);
      // What has traffic changes seldom: it warms again each time.
      const others = names.map((name) => [name, 1 + pick(50)] as const);
      return { up: 1 + pick(2), ...Object.fromEntries(others) };
    },
    resources: (state) => Object.entries(state).map(([name, seconds]) => named(name, seconds)),
    badAlone: resource.cluster({ name: 'bad', type: 'EDS' }),
    bad: [
      resource.cluster({ name: '' }),
      resource.cluster({ name: 'bad', connect_timeout: '0s' }),
      answering('cluster', 'another type'),
    ],
    expected: (state) => state,
    seen: async (sluice) => {
      const all = await dump<{ readonly cluster: Named & { readonly connect_timeout: string } }>(
        sluice,
        'dynamic_active_clusters',
      );
      return Object.fromEntries(
        all.map(({ cluster }) => [cluster.name, Number.parseInt(cluster.connect_timeout, 10)]),
      );
    },
  });
}

function endpoints({ upstreams }: FuzzedParts): FuzzedType {
  const names = ['one', 'two'] as const;
  return fuzzedType<'one' | 'two'>({
    kind: 'endpoint.v3.ClusterLoadAssignment',
    first: 'one',
    next: (pick) => names[pick(2)] ?? 'one',
    resources: (name) => [resource.endpoints('up', [upstreams[name]])],
    bad: [
      resource.endpoints('up', [70_000]),
      { ...resource.endpoints('up', []), policy: { overprovisioning_factor: 0 } },
    ],
    expected: (name) => [name],
    seen: (sluice) => bodies(sluice, { path: '/up' }),
  });
}

/** Beside those that show other types there are some that come and go. */
function listeners({ source, isDelta }: FuzzedParts): FuzzedType {
  const web = httpListener([], {
    hcm: {
      route_config: undefined,
      rds: { config_source: source, route_config_name: 'rc' },
      http_filters: [
        { name: 'late', config_discovery: { config_source: source, type_urls: [MUTATION] } },
        { name: 'router', typed_config: { '@type': `${FILTERS}.router.v3.Router` } },
      ],
    },
  });
  const scoped_routes = {
    name: 'sr',
    scope_key_builder: {
      fragments: [{ header_value_extractor: { name: 'x-scope', index: 0 } }],
    },
    rds_config_source: source,
    scoped_rds: { scoped_rds_config_source: source },
  };
  const scoped = httpListener([], {
    name: 'scoped',
    hcm: { route_config: undefined, scoped_routes },
  });
  const configs = [{ name: 'server', sds_config: source }];
  const secure = secureListener(
    GREETING,
    tlsSocket('Downstream', {
      common_tls_context: { tls_certificate_sds_secret_configs: configs },
    }),
  );
  const withHosts = httpListener([], {
    name: 'hosts',
    hcm: {
      route_config: undefined,
      rds: { config_source: source, route_config_name: 'rch' },
    },
  });
  const always = [web, scoped, { ...secure, name: 'secure' }, ...(isDelta ? [withHosts] : [])];
  const extra = (name: string, text: string): object => httpListener(textRoutes(text), { name });
  const seen = async (sluice: Sluice): Promise<Readonly<Record<string, string>>> => {
    const names = (
      await dump<Named & { readonly active_state?: object }>(sluice, 'dynamic_listeners')
    ).flatMap(({ name, active_state: active }) => (active === undefined ? [] : [name]));
    const extras = names.filter((name) => name.startsWith('l'));
    const texts = extras.map(async (name) => {
      const [text = ''] = await bodies(sluice, { path: '/' }, name);
      return [name, text] as const;
    });
    return Object.fromEntries(await Promise.all(texts));
  };
  return fuzzedType<Readonly<Record<string, string>>>({
    kind: 'listener.v3.Listener',
    refusalsRemove: !isDelta,
    first: {},
    next: (pick, version) => {
      const names = Array.from({ length: pick(3) }, () => `l${pick(4)}`);
      return Object.fromEntries(names.map((name) => [name, `${name} ${version}`]));
    },
    resources: (state) =>
      [...always, ...Object.entries(state).map(([name, text]) => extra(name, text))].map(
        resource.listener,
      ),
    bad: [
      resource.listener({ name: 'bad' }),
      resource.listener({ ...httpListener([], { name: 'bad' }), filter_chains: [] }),
      resource.listener(httpListener([{ match: {} }], { name: 'bad' })),
    ],
    expected: (state) => state,
    seen,
  });
}

function routes({ source, isDelta }: FuzzedParts): FuzzedType {
  const completed = {
    ...resource.routes('rch', []),
    virtual_hosts: [],
    vhds: { config_source: source },
  };
  const always = isDelta ? [completed] : [];
  const toUp = { match: { prefix: '/up' }, route: { cluster: 'up' } };
  const twice = resource.routes('rc', []) as { virtual_hosts: readonly object[] };
  return fuzzedType<string>({
    kind: 'route.v3.RouteConfiguration',
    first: 'first',
    next: (_, version) => `text ${version}`,
    resources: (text) => [resource.routes('rc', [toUp, ...textRoutes(text)]), ...always],
    bad: [
      resource.routes('rc', [{ match: {} }]),
      resource.routes('rc', [{ match: { prefix: '/' }, route: {} }]),
      { ...twice, virtual_hosts: [...twice.virtual_hosts, ...twice.virtual_hosts] },
    ],
    expected: (text) => [text],
    seen: (sluice) => bodies(sluice, { path: '/' }),
  });
}

const SCOPES = ['s0', 's1', 's2'] as const;

function scopes(): FuzzedType {
  const scope = (name: string, text: string): object => ({
    '@type': `${API}.config.route.v3.ScopedRouteConfiguration`,
    name,
    key: { fragments: [{ string_key: name }] },
    route_configuration: { name, virtual_hosts: [hostOf(name, ['*'], text)] },
  });
  const keyless = { ...scope('bad', 'x'), key: { fragments: [] } };
  return fuzzedType<Texts>({
    kind: 'route.v3.ScopedRouteConfiguration',
    first: {},
    next: someTexts(SCOPES),
    resources: (state) => Object.entries(state).map(([name, text]) => scope(name, text)),
    bad: [keyless, { ...scope('bad', 'x'), name: '' }, answering('scope', 'another type')],
    expected: complete(SCOPES),
    seen: (sluice) =>
      answersTo(SCOPES, (name) => bodies(sluice, { headers: { 'x-scope': name } }, 'scoped')),
  });
}

const HOSTS = ['h0', 'h1', 'h2'] as const;

function virtualHosts(): FuzzedType {
  const host = (name: string, text: string): object => ({
    '@type': `${API}.config.route.v3.VirtualHost`,
    ...hostOf(`rch/${name}`, [name], text),
  });
  return fuzzedType<Texts>({
    kind: 'route.v3.VirtualHost',
    first: {},
    next: someTexts(HOSTS),
    resources: (state) => Object.entries(state).map(([name, text]) => host(name, text)),
    bad: [{ ...host('bad', 'x'), domains: [] }],
    expected: complete(HOSTS),
    seen: (sluice) =>
      answersTo(HOSTS, (name) => bodies(sluice, { headers: { host: name } }, 'hosts')),
  });
}

function secrets({ certificates }: FuzzedParts): FuzzedType {
  const names = ['first', 'second'] as const;
  const secret = (chain: string, key: string): object =>
    secretMessage('server', {
      tls_certificate: {
        certificate_chain: { inline_string: chain },
        private_key: { inline_string: key },
      },
    });
  const { first, second } = certificates;
  return fuzzedType<'first' | 'second'>({
    kind: 'envoy.extensions.transport_sockets.tls.v3.Secret',
    first: 'first',
    next: (pick) => names[pick(2)] ?? 'first',
    resources: (name) => [secret(certificates[name].cert, certificates[name].key)],
    bad: [secret(first.cert, second.key), secret('none', second.key), secret(first.cert, '')],
    expected: (name) => [name],
    seen: async (sluice) => {
      const port = await sluice.listenerPort('secure');
      const asked = Array.from({ length: 4 }, () => askSecurely(port));
      return distinct((await Promise.all(asked)).map(({ name }) => name));
    },
  });
}

function layers(): FuzzedType {
  const layer = (values: object): object => ({
    '@type': `${API}.service.runtime.v3.Runtime`,
    name: 'fuzzed',
    layer: values,
  });
  return fuzzedType<number>({
    kind: 'envoy.service.runtime.v3.Runtime',
    first: 0,
    next: (pick) => pick(1000),
    resources: (value) => [layer({ fuzzed: { key: value } })],
    bad: [layer({ fuzzed: [1] })],
    expected: String,
    seen: async (sluice) => {
      const { body } = await sluice.admin('/runtime?format=json');
      const { entries } = JSON.parse(body) as {
        readonly entries: Readonly<Record<string, { readonly final_value: string }>>;
      };
      return entries['fuzzed.key']?.final_value;
    },
  });
}

function filters(): FuzzedType {
  const extension = (config: object): object => ({
    '@type': `${API}.config.core.v3.TypedExtensionConfig`,
    name: 'late',
    typed_config: config,
  });
  const adding = (value: string, key = 'x-from'): object =>
    extension({
      '@type': MUTATION,
      mutations: { response_mutations: [{ append: { header: { key, value } } }] },
    });
  return fuzzedType<string>({
    kind: 'envoy.config.core.v3.TypedExtensionConfig',
    first: 'first',
    next: (_, version) => `from ${version}`,
    resources: (value) => [adding(value)],
    bad: [adding('x', ''), extension({ '@type': `${FILTERS}.router.v3.Router` })],
    expected: (value) => [value],
    seen: async (sluice) =>
      distinct((await ask(sluice, { path: '/' })).map(({ headers }) => String(headers['x-from']))),
  });
}

type Texts = Readonly<Record<string, string>>;

/** Some of the names, each with a text of its own. */
function someTexts(names: readonly string[]): (pick: Pick, version: string) => Texts {
  return (pick, version) => {
    const some = names.filter(() => pick(2) === 0);
    return Object.fromEntries(some.map((name) => [name, `${name} ${version}`]));
  };
}

/** What requests for each name are answered: nothing for those that are not there. */
function complete(names: readonly string[]): (texts: Texts) => Readonly<Record<string, string[]>> {
  return (texts) => Object.fromEntries(names.map((name) => [name, [texts[name] ?? '']]));
}

async function answersTo(
  names: readonly string[],
  answers: (name: string) => Promise<readonly string[]>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const all = names.map(async (name) => [name, await answers(name)] as const);
  return Object.fromEntries(await Promise.all(all));
}

interface Named {
  readonly name: string;
}

async function dump<Entry>(sluice: Sluice, field: string): Promise<readonly Entry[]> {
  const { body } = await sluice.admin(`/config_dump?resource=${field}`);
  return (JSON.parse(body) as { readonly configs?: readonly Entry[] }).configs ?? [];
}

/** What new connections, which spread over the workers, are answered. */
async function bodies(sluice: Sluice, request: Ask, listener = 'web'): Promise<string[]> {
  return distinct((await ask(sluice, request, listener)).map(({ body }) => body));
}

async function ask(
  sluice: Sluice,
  request: Ask,
  listener = 'web',
): Promise<Awaited<ReturnType<typeof fetchOnce>>[]> {
  const port = await sluice.listenerPort(listener);
  return Promise.all(Array.from({ length: CONNECTIONS }, () => fetchOnce({ port, ...request })));
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].toSorted();
}

function textRoutes(text: string): readonly object[] {
  const action = { direct_response: { status: 200, body: { inline_string: text } } };
  return [{ match: { prefix: '/' }, ...action }];
}

function hostOf(name: string, domains: readonly string[], text: string): object {
  return { name, domains, routes: textRoutes(text) };
}

/** A resource of a type that no answer of another type may hold. */
function answering(name: string, text: string): object {
  return {
    '@type': `${API}.config.core.v3.TypedExtensionConfig`,
    name,
    typed_config: { '@type': 'type.googleapis.com/google.protobuf.StringValue', value: text },
  };
}
