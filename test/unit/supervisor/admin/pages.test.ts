/** The smaller pages: state, help, certificates, runtime, logging, profilers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogLevel } from '../../../../shared/logging/levels.ts';
import type { AdminContext } from '../../../../supervisor/admin/admin-context.ts';
import type { ServerState } from '../../../../supervisor/life-cycle/server-state.ts';
import { statsForm } from '../../../../supervisor/admin/home/stats-form.ts';
import { parseQuery } from '../../../../supervisor/http-pages/query.ts';
import type { JsonObject } from '../../../../shared/api/well-known.ts';
import { ask } from './ask.ts';
import { fakeContext, UNTIMED } from './fake-context.ts';

test('/ready names the state and is 200 only when LIVE', async () => {
  for (const [state, status] of [
    ['LIVE', 200],
    ['DRAINING', 503],
    ['INITIALIZING', 503],
    ['PRE_INITIALIZING', 503],
  ] as readonly (readonly [ServerState, number])[]) {
    const { context } = fakeContext();
    const answer = await ask(
      { ...context, server: { ...context.server, state: () => state } },
      '/ready',
    );
    assert.deepEqual([answer.status, answer.body], [status, `${state}\n`]);
  }
});

test('/server_info shows --config-yaml as it was given, unless a secret is in it', async () => {
  const shown = async (config_yaml: string): Promise<unknown> => {
    const { server } = fakeContext().context;
    const { context } = fakeContext({
      server: { ...server, commandLineOptions: () => ({ config_yaml }) },
    });
    const { body } = await ask(context, '/server_info');
    const info = JSON.parse(body) as { readonly command_line_options: JsonObject };
    return info.command_line_options['config_yaml'];
  };
  const plain = '{node: {id: a}} # as it was';
  assert.equal(await shown(plain), plain);
  const secret =
    'static_resources: {secrets: [{name: s, generic_secret: {secret: {inline_string: hush}}}]}';
  assert.deepEqual(JSON.parse(String(await shown(secret))), {
    static_resources: {
      secrets: [{ name: 's', generic_secret: { secret: { inline_string: '[redacted]' } } }],
    },
  });
});

test('/server_info prints options, node and their defaults in the order of the API', async () => {
  const { context } = fakeContext();
  const answer = await ask(
    {
      ...context,
      server: {
        ...context.server,
        startedAtNs: context.clock.monotonicNs() - 5_000_000_000n,
        firstEpochStartUnixSeconds: Math.floor(context.clock.wallMs() / 1000) - 90,
        node: () => ({ id: 'n', locality: { zone: 'z' }, user_agent_name: 'sluice' }),
      },
    },
    '/server_info',
  );
  const info = JSON.parse(answer.body) as Record<string, unknown>;
  assert.deepEqual(Object.keys(info), [
    'version',
    'state',
    'uptime_current_epoch',
    'uptime_all_epochs',
    'hot_restart_version',
    'command_line_options',
    'node',
    'hot_restart_initializing',
  ]);
  assert.deepEqual([info['uptime_current_epoch'], info['uptime_all_epochs']], ['5s', '90s']);
  assert.deepEqual(info['node'], {
    id: 'n',
    cluster: '',
    dynamic_parameters: {},
    locality: { region: '', zone: 'z', sub_zone: '' },
    user_agent_name: 'sluice',
    extensions: [],
    client_features: [],
    listening_addresses: [],
  });
});

test('/help is sorted, marks POST and shows parameters with their choices', async () => {
  const { context } = fakeContext();
  const { body } = await ask(context, '/help');
  assert.match(body, /^admin commands are:\n {2}\/: Admin home page\n/);
  assert.match(body, /\n {2}\/cpuprofiler \(POST\): .*\n {6}enable: .*; One of \(y, n\)\n/);
  const paths = [...body.matchAll(/^ {2}(\/\S*)/gm)].map(([, path = '']) => path.replace(/:$/, ''));
  assert.deepEqual(
    paths,
    [...paths].sort((left, right) => (left < right ? -1 : 1)),
  );
});

test('/hot_restart_version and /contention end without a line feed', async () => {
  const { context } = fakeContext();
  assert.equal((await ask(context, '/hot_restart_version')).body, '11.104');
  assert.equal(
    (await ask(context, '/contention')).body,
    'Mutex contention tracing is not enabled. To enable, run Sluice with flag --enable-mutex-tracing.',
  );
});

test('/contention counts waits when tracing is on', async () => {
  const { context } = fakeContext();
  const counts = { waits: 2, lastWaitNs: 3783n, allWaitsNs: 708955n };
  const traced = { ...context, server: { ...context.server, contention: () => counts } };
  assert.equal(
    (await ask(traced, '/contention')).body,
    '{\n "num_contentions": "2",\n "current_wait_cycles": "3783",\n "lifetime_wait_cycles": "708955"\n}\n',
  );
});

test('/memory has the fields of the API as strings', async () => {
  const { context } = fakeContext();
  const memory = JSON.parse((await ask(context, '/memory')).body) as Record<string, unknown>;
  assert.deepEqual(Object.keys(memory), [
    'allocated',
    'heap_size',
    'pageheap_unmapped',
    'pageheap_free',
    'total_thread_cache',
    'total_physical_bytes',
  ]);
  for (const value of Object.values(memory)) assert.match(String(value), /^\d+$/);
});

test('/certs prints each certificate with whole days until it expires', async () => {
  const { context } = fakeContext();
  const nowMs = Date.parse('2026-11-21T11:02:54Z');
  const answer = await ask(
    {
      ...context,
      clock: { ...context.clock, wallMs: () => nowMs },
      clusters: {
        ...context.clusters,
        certificates: () => [
          {
            ca: [],
            chain: [
              {
                path: '/tmp/leaf.crt',
                serialNumber: '1f2e3d',
                subjectAltNames: [
                  { kind: 'dns', value: 'leaf.test' },
                  { kind: 'ip', value: '127.0.0.1' },
                ],
                validFromMs: Date.parse('2026-11-21T11:02:53Z'),
                expiresMs: Date.parse('2027-02-19T11:02:53Z'),
              },
            ],
          },
        ],
      },
    },
    '/certs',
  );
  assert.deepEqual(JSON.parse(answer.body), {
    certificates: [
      {
        ca_cert: [],
        cert_chain: [
          {
            path: '/tmp/leaf.crt',
            serial_number: '1f2e3d',
            subject_alt_names: [{ dns: 'leaf.test' }, { ip_address: '127.0.0.1' }],
            days_until_expiration: '89',
            valid_from: '2026-11-21T11:02:53Z',
            expiration_time: '2027-02-19T11:02:53Z',
          },
        ],
      },
    ],
  });
  assert.equal((await ask(context, '/certs')).body, '{\n "certificates": []\n}\n');
});

test('/init_dump names what is not ready, by component', async () => {
  const { context } = fakeContext();
  const config: AdminContext['config'] = {
    ...context.config,
    unreadyTargets: () => [
      { component: 'listener', name: 'init manager a', targetNames: ['shared target RDS'] },
      { component: 'listener', name: 'init manager b', targetNames: [] },
    ],
  };
  const dump = {
    unready_targets_dumps: [
      { name: 'init manager a', target_names: ['shared target RDS'] },
      { name: 'init manager b' },
    ],
  };
  const read = async (path: string): Promise<unknown> =>
    JSON.parse((await ask({ ...context, config }, path)).body);
  assert.deepEqual(await read('/init_dump'), dump);
  assert.deepEqual(await read('/init_dump?mask=listener'), dump);
  assert.deepEqual(await read('/init_dump?mask=nosuch'), {});
});

function logging(levels: Record<string, LogLevel>, fineGrain = false): AdminContext['logging'] {
  return {
    ...UNTIMED,
    fineGrain,
    levels: () => Object.entries(levels).map(([name, level]) => ({ name, level })),
    setAll: (level) => Object.keys(levels).forEach((name) => (levels[name] = level)),
    set: (name, level) => {
      const isKnown = name in levels;
      if (isKnown) levels[name] = level;
      return isKnown;
    },
    setGroup: (name, level) => {
      levels[`group ${name}`] = level;
      return true;
    },
  };
}

test('/logging changes one, several or all loggers, all or nothing', async () => {
  const levels: Record<string, LogLevel> = { admin: 'info', http: 'info' };
  const { context } = fakeContext({ logging: logging(levels) });
  const post = async (query: string) => await ask(context, `/logging${query}`, { method: 'POST' });
  assert.equal((await post('')).body, 'active loggers:\n  admin: info\n  http: info\n\n');
  await post('?level=warning');
  assert.deepEqual(levels, { admin: 'warning', http: 'warning' });
  await post('?http=trace');
  assert.deepEqual(levels, { admin: 'warning', http: 'trace' });
  await post('?paths=admin:error,http:info,');
  assert.deepEqual(levels, { admin: 'error', http: 'info' });
  await post('?paths=admin=debug,http=off');
  assert.deepEqual(levels, { admin: 'debug', http: 'off' });
  for (const query of ['?level=', '?paths=', '?x', '?admin=']) {
    assert.equal((await post(query)).status, 200, query);
  }
  const refused = {
    '?level=loud': 'unknown logger level',
    '?level=warn': 'unknown logger level',
    '?nosuch=debug': 'unknown logger name',
    '?paths=admin:trace,nosuch:info': 'unknown logger name',
    '?paths=admin:trace,http:loud': 'unknown logger level',
    '?paths=a': 'empty logger name or empty logger level',
    '?paths=:info': 'empty logger name or empty logger level',
    '?level=info&admin=debug': 'invalid number of parameters',
    '?group=admin:info': 'group parameter requires fine-grain logging to be enabled',
  };
  for (const [query, reason] of Object.entries(refused)) {
    const answer = await post(query);
    assert.equal(answer.status, 400);
    assert.match(
      answer.body,
      new RegExp(`^error: ${reason}\\n\\nusage: /logging\\?<name>=<level>`),
    );
    assert.match(answer.body, /\nlevels: trace debug info warning error critical off \nactive log/);
  }
  assert.deepEqual(levels, { admin: 'debug', http: 'off' });
});

test('/logging takes any name and groups where each file has its logger', async () => {
  const levels: Record<string, LogLevel> = { 'a.ts': 'info' };
  const { context } = fakeContext({ logging: logging(levels, true) });
  const post = async (query: string) => await ask(context, `/logging${query}`, { method: 'POST' });
  assert.equal((await post('?group=admin:debug')).status, 200);
  assert.deepEqual(levels, { 'a.ts': 'info', 'group admin': 'debug' });
  assert.equal((await post('?paths=later/*.ts:debug')).status, 200);
  for (const [query, reason] of Object.entries({
    '?group=admin': 'empty logger name or empty logger level in group',
    '?group=:info': 'empty logger name or empty logger level in group',
    '?group=admin:info,http:info': 'unknown logger level',
  })) {
    const answer = await post(query);
    assert.equal(answer.status, 400);
    assert.ok(answer.body.startsWith(`error: ${reason}\n`), answer.body);
  }
});

test('/runtime prints layers and entries, also for keys that objects have by themselves', async () => {
  const { context } = fakeContext({
    runtime: {
      snapshot: () => new Map(),
      layers: () => ['base', 'admin'],
      entries: () => [
        { key: '__proto__', layerValues: ['', 'x'], finalValue: 'x' },
        { key: 'flag', layerValues: ['true', ''], finalValue: 'true' },
      ],
      modifyAdminLayer: async () => await Promise.resolve('No admin layer specified'),
    },
  });
  const { body } = await ask(context, '/runtime');
  assert.match(body, /"__proto__": \{\n {3}"layer_values": \[\n {4}"",\n {4}"x"\n {3}\],/);
  const refused = await ask(context, '/runtime_modify?a=b', { method: 'POST' });
  assert.deepEqual([refused.status, refused.body], [503, 'No admin layer specified']);
  const usage = await ask(context, '/runtime_modify', { method: 'POST' });
  assert.equal(usage.status, 400);
  assert.match(usage.body, /^usage: \/runtime_modify\?key1=value1&key2=value2&keyN=valueN\n/);
});

test('profilers refuse parameters other than y and n', async () => {
  const { context } = fakeContext();
  for (const path of ['/cpuprofiler', '/allocprofiler']) {
    for (const query of ['', '?enable=', '?enable=maybe']) {
      const answer = await ask(context, path + query, { method: 'POST' });
      assert.deepEqual([answer.status, answer.body], [400, '?enable=<y|n>\n']);
    }
  }
});

test('the home page offers each endpoint, escapes what it shows and lets only its own script run', async () => {
  const { context } = fakeContext({
    listeners: {
      list: () => [
        { name: '<script>alert(1)</script>', addresses: [{ kind: 'pipe', path: "a'b" }] },
      ],
    },
  });
  const page = await ask(context, '/');
  assert.equal(page.contentType, 'text/html; charset=UTF-8');
  assert.match(
    page.body,
    /<form action="quitquitquit" method="post" id="quitquitquit" data-confirm>/,
  );
  assert.match(page.body, /<form action="stats" method="get" id="stats">/);
  assert.match(page.body, /<a href="ready">ready<\/a>/);
  assert.ok(!page.body.includes('<script>alert') && !page.body.includes("a'b"));
  assert.match(
    String(page.headers['content-security-policy']),
    /^default-src 'none'; style-src 'sha256-/,
  );
  assert.doesNotMatch(page.body, /\son\w+=/);
  // A browser sends its true Origin with the page's forms only under such a policy.
  assert.match(page.body, /<meta name="referrer" content="same-origin">/);
});

test('the home page says how many connections listeners and workers have', async () => {
  const { context } = fakeContext({
    listeners: {
      list: () => [
        { name: 'web', addresses: [{ kind: 'ip', family: 'v4', address: '::', port: 1 }] },
      ],
    },
  });
  const open = { name: 'web', open: 31, idle: 0, active: 31, streams: 17, percent: 0 } as const;
  const counted = [
    'listener.a.worker_0.downstream_cx_active: 40\n',
    'listener.b.worker_0.downstream_cx_active: 2\n',
  ];
  const page = await ask(
    {
      ...context,
      stats: {
        ...context.stats,
        read: async () => await Promise.resolve({ status: 200, body: counted }),
      },
      commands: {
        ...context.commands,
        drainStatus: async () =>
          await Promise.resolve({ isComplete: true, listeners: [{ ...open, state: 'draining' }] }),
      },
    },
    '/',
  );
  assert.match(
    page.body,
    /<td><span class="host fair">draining<\/span><\/td><td>31<\/td><td>17<\/td>/,
  );
  assert.match(page.body, /<td>running<\/td><td>42<\/td><td>0<\/td>/);
});

test('the statistics form keeps what was asked and escapes the listing', async () => {
  const query = parseQuery('format=active-html&usedonly&filter=%22%3E%3Cb%3E');
  const { body, headers } = statsForm(query, ['a<b>: 1\n']);
  let page = '';
  for await (const chunk of body as AsyncIterable<string>) page += chunk;
  assert.match(page, /<meta http-equiv="refresh" content="5">/);
  assert.match(page, /name="usedonly" id="stats-usedonly" form="stats" checked>/);
  assert.match(page, /<option value="active-html" selected>/);
  assert.match(page, /value="&#34;&#62;&#60;b&#62;"/);
  assert.match(page, /<pre>\na&#60;b&#62;: 1\n<\/pre>/);
  assert.match(String(headers?.['content-security-policy']), /default-src 'none'/);
});
