/** The admin interface of the whole program. */
import assert from 'node:assert/strict';
import { readFileSync, renameSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Profile } from 'pprof-format';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { ApiCatalog } from '../../../supervisor/config/api/api-catalog.ts';
import { decodeMessage } from '../../../supervisor/config/convert/message-decoder.ts';
import { messageToBinary } from '../../../supervisor/config/message-codec.ts';
import { runPipeline } from '../../../supervisor/config/pipeline.ts';
import type { Answer } from '../../support/peers/http-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const ROUTES = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
const SECRET = 'very-secret-value';

function configuration(fields: object = {}): object {
  return bootstrap(
    { listeners: [httpListener(ROUTES)], clusters: [staticCluster('up', [9])] },
    fields,
  );
}

test('every page that needs no parameter answers, JSON pages as JSON', async () => {
  await using sluice = await startSluice({ bootstrap: configuration() });
  const help = await sluice.admin('/help');
  const pages = [...help.body.matchAll(/^ {2}(\/[^\s:]*): /gm)]
    .map(([, path = '']) => path)
    .filter((path) => path !== '/explain');
  assert.ok(pages.includes('/config_dump') && !pages.includes('/quitquitquit'));
  for (const path of pages) {
    const answer = await sluice.admin(path);
    assert.equal(answer.status, 200, path);
    assert.equal(answer.headers['server'], 'sluice');
    if (answer.headers['content-type'] === 'application/json') JSON.parse(answer.body);
  }
});

/** A page and the message of envoy.admin.v3 that it is. */
const MESSAGES: readonly (readonly [path: string, type: string])[] = [
  ['/server_info', 'ServerInfo'],
  ['/clusters?format=json', 'Clusters'],
  ['/listeners?format=json', 'Listeners'],
  ['/certs', 'Certificates'],
  ['/memory', 'Memory'],
  ['/contention', 'MutexStats'],
  ['/init_dump', 'UnreadyTargetsDumps'],
  ['/config_dump?include_eds', 'ConfigDump'],
  ['/config_dump?resource=static_clusters', 'ConfigDump'],
  ['/config_dump?resource=static_secrets', 'ConfigDump'],
  ['/config_dump?name_regex=up', 'ConfigDump'],
  ['/config_dump?mask=bootstrap.node', 'ConfigDump'],
];

test('every JSON page is its message of the API, and the same after the wire', async () => {
  using scratch = makeScratch();
  const { source: configured } = secretConfiguration(scratch.path);
  const args = ['--enable-mutex-tracing'];
  await using sluice = await startSluice({ bootstrap: configured, args });
  const catalog = new ApiCatalog();
  for (const [path, name] of MESSAGES) {
    const type = `envoy.admin.v3.${name}`;
    const { body } = await sluice.admin(path);
    const source = { name: path, format: 'json', content: Buffer.from(body) } as const;
    const { message, problems } = await runPipeline(
      type,
      [source],
      { unknownFields: 'refuse' },
      catalog,
    );
    // The API's rules are for what is configured: Envoy, too, prints a weight of 0.
    const wrong = problems.filter(({ rule }) => !rule.startsWith('validate.'));
    assert.deepEqual(wrong, [], path);
    const bytes = messageToBinary(catalog, type, message);
    const again = decodeMessage(
      { catalog, onUnknownField: ({ number }) => assert.fail(`${path}: field ${number}`) },
      catalog.message(type),
      bytes,
    );
    assert.deepEqual(again, message, path);
    const page = JSON.parse(body) as object;
    // What reading dropped are defaults that the page prints; nothing was added or changed.
    assert.ok(isPartOf(message, page), path);
  }
});

function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return part === whole;
  if (typeof whole !== 'object' || whole === null) return false;
  const inWhole = whole as Readonly<Record<string, unknown>>;
  return Object.entries(part).every(([key, value]) => isPartOf(value, inWhole[key]));
}

test('what the log says and the runtime decides changes while the server runs', async () => {
  const layers = [
    { name: 'base', static_layer: { a: { b: 1 } } },
    { name: 'admin', admin_layer: {} },
  ];
  await using sluice = await startSluice({
    bootstrap: configuration({ layered_runtime: { layers } }),
  });
  await sluice.admin({ path: '/logging?paths=admin:debug,http:trace', method: 'POST' });
  const levels = (await sluice.admin({ path: '/logging', method: 'POST' })).body;
  assert.match(levels, /\n {2}admin: debug\n/);
  await sluice.admin({ path: '/runtime_modify?a.b=2', method: 'POST' });
  const runtime = JSON.parse((await sluice.admin('/runtime')).body) as unknown;
  assert.deepEqual(runtime, {
    entries: { 'a.b': { layer_values: ['1', '2'], final_value: '2' } },
    layers: ['base', 'admin'],
  });
  const line = /admin command: POST \/runtime_modify\?a\.b=2 from 127\.0\.0\.1:/;
  await waitUntil('the line of the command', () => line.test(sluice.stderr()));
});

test('/contention counts waits for workers with --enable-mutex-tracing', async () => {
  const args = ['--enable-mutex-tracing'];
  await using traced = await startSluice({ bootstrap: configuration(), args });
  const read = async () => {
    const { body } = await traced.admin('/contention');
    return JSON.parse(body) as Readonly<Record<string, string>>;
  };
  const before = await read();
  await post(traced, '/runtime_modify?a=b');
  const after = await waitUntil('a worker’s reply', async () => {
    const now = await read();
    return Number(now['num_contentions']) > Number(before['num_contentions']) ? now : undefined;
  });
  assert.deepEqual(Object.keys(after), [
    'num_contentions',
    'current_wait_cycles',
    'lifetime_wait_cycles',
  ]);
  // Nanoseconds: a reply through a pipe takes microseconds at least.
  const waited = Number(after['lifetime_wait_cycles']) - Number(before['lifetime_wait_cycles']);
  assert.ok(waited > 2_000 && waited < 20e9, String(waited));
});

test('a mutation by GET has no effect and gives 400; /quitquitquit ends the server with 0', async () => {
  await using sluice = await startSluice({ bootstrap: configuration() });
  const refused = await sluice.admin('/quitquitquit');
  assert.equal(refused.status, 400);
  assert.equal(refused.body, 'Method GET not allowed, POST required.');
  const foreign = {
    path: '/quitquitquit',
    method: 'POST',
    headers: { origin: 'http://evil.test' },
  };
  assert.equal((await sluice.admin(foreign)).status, 403);
  assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
  assert.equal((await sluice.admin({ path: '/quitquitquit', method: 'POST' })).body, 'OK\n');
  assert.deepEqual(await sluice.exited(), { code: 0, signal: null });
});

const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3';

/** A configuration with a secret in every place that takes one, and the secrets. */
function secretConfiguration(folder: string): { source: object; secrets: readonly string[] } {
  const { cert, key } = makeAuthority(folder);
  const hash = '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=';
  const ticketKey = SECRET.padEnd(80, 'k');
  const certificate = {
    certificate_chain: { inline_string: cert },
    private_key: { inline_string: key },
    password: { inline_string: SECRET },
  };
  const transport = (context: string, common: object, more: object = {}) => ({
    name: 'tls',
    typed_config: { '@type': `${TLS}.${context}`, common_tls_context: common, ...more },
  });
  const users = { inline_string: `someone:${hash}` };
  const http = 'type.googleapis.com/envoy.extensions.filters.http';
  const filters = [
    { name: 'auth', typed_config: { '@type': `${http}.basic_auth.v3.BasicAuth`, users } },
    { name: 'router', typed_config: { '@type': `${http}.router.v3.Router` } },
  ];
  const listener = httpListener(ROUTES, { hcm: { http_filters: filters } }) as {
    readonly filter_chains: readonly object[];
  };
  const keys = { keys: [{ inline_bytes: Buffer.from(ticketKey).toString('base64') }] };
  const common = { tls_certificates: [certificate] };
  const server = transport('DownstreamTlsContext', common, { session_ticket_keys: keys });
  const chains = listener.filter_chains.map((chain) => ({ ...chain, transport_socket: server }));
  const client = transport('UpstreamTlsContext', common);
  const opaque = {
    name: 'tls',
    typed_config: {
      '@type': 'type.googleapis.com/xds.type.v3.TypedStruct',
      type_url: `${TLS}.UpstreamTlsContext`,
      value: { commonTlsContext: common },
    },
  };
  const resources = {
    listeners: [{ ...listener, filter_chains: chains }],
    clusters: [
      { ...staticCluster('up', [9]), transport_socket: client },
      { ...staticCluster('opaque', [9]), transport_socket: opaque },
    ],
    secrets: [
      { name: 'plain', generic_secret: { secret: { inline_string: SECRET } } },
      { name: 'several', generic_secret: { secrets: { one: { inline_string: SECRET } } } },
      { name: 'pair', tls_certificate: certificate },
      { name: 'tickets', session_ticket_keys: keys },
    ],
  };
  const source = bootstrap({}, { static_resources: resources });
  return { source, secrets: [SECRET, hash, key.split('\n')[3] ?? key] };
}

test('no page shows a secret of the configuration', async () => {
  using scratch = makeScratch();
  const { source, secrets } = secretConfiguration(scratch.path);
  const more = { name: 'by_option', generic_secret: { secret: { inline_string: SECRET } } };
  const args = ['--config-yaml', JSON.stringify({ static_resources: { secrets: [more] } })];
  await using sluice = await startSluice({ bootstrap: source, args });
  const help = (await sluice.admin('/help')).body;
  const pages = [...help.matchAll(/^ {2}(\/[^\s:]*): /gm)].map(([, path = '']) => path);
  const dumps = ['?include_eds', '?resource=static_secrets', '?mask=bootstrap', '?name_regex=.*'];
  for (const path of [...pages, ...dumps.map((query) => `/config_dump${query}`)]) {
    const { body } = await sluice.admin(path);
    for (const secret of secrets) {
      const encoded = Buffer.from(secret)
        .toString('base64')
        .replace(/.{0,3}=*$/, '');
      assert.ok(!body.includes(secret) && !body.includes(encoded), path);
    }
  }
  // In the bootstrap and where it is used: four keys with passwords, the users, three generic
  // secrets as text; two ticket keys as bytes.
  const dump = (await sluice.admin('/config_dump')).body;
  assert.equal(dump.match(/\[redacted\]/g)?.length, 2 * 12);
  assert.equal(dump.match(/W3JlZGFjdGVkXQ==/g)?.length, 2 * 2);
});

test('a CPU profile is written where the configuration says, with names from the .ts', async () => {
  using scratch = makeScratch();
  const address = { socket_address: { address: '127.0.0.1', port_value: 0 } };
  const admin = { address, profile_path: scratch.file('cpu.prof') };
  await using sluice = await startSluice({ bootstrap: configuration({ admin }) });
  assert.equal((await post(sluice, '/cpuprofiler?enable=y')).body, 'OK\n');
  for (let count = 0; count < 50; count++) await sluice.admin('/stats');
  assert.equal((await post(sluice, '/cpuprofiler?enable=n')).body, 'OK\n');
  const profile = Profile.decode(gunzipSync(readFileSync(admin.profile_path)));
  const text = (index: number | bigint) => profile.stringTable.strings[Number(index)] ?? '';
  const processes = new Set(
    profile.sample.flatMap(({ label }) => label.map(({ str }) => text(str))),
  );
  assert.ok(processes.has('supervisor'));
  assert.ok(profile.function.some(({ filename }) => text(filename).endsWith('.ts')));
});

test('the admin keeps its own access log and to the allowed paths', async () => {
  using scratch = makeScratch();
  const logPath = scratch.file('admin.log');
  const address = { socket_address: { address: '127.0.0.1', port_value: 0 } };
  const fileLog = {
    '@type': 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog',
    path: logPath,
  };
  const admin = {
    address,
    access_log: [{ name: 'file', typed_config: fileLog }],
    allow_paths: [{ prefix: '/ready' }, { prefix: '/stats' }],
  };
  await using sluice = await startSluice({ bootstrap: configuration({ admin }) });
  assert.equal((await sluice.admin('/config_dump')).status, 403);
  await waitUntil('the first line', () => readFileSync(logPath, 'utf8').includes('GET /ready'));
  renameSync(logPath, `${logPath}.1`);
  sluice.signal('SIGUSR1');
  await waitUntil('the next line in a new file', async () => {
    await sluice.admin('/ready');
    return readFileSync(`${logPath}.1`, 'utf8').includes('403') && existsAndHasLines(logPath);
  });
});

async function post(sluice: Sluice, path: string): Promise<Answer> {
  return await sluice.admin({ path, method: 'POST' });
}

function existsAndHasLines(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').length > 0;
  } catch {
    return false;
  }
}
