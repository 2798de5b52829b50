/** The smaller pages: state, help, certificates, runtime, logging, profilers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdminContext } from '../../../../../supervisor/admin/admin-context.ts';
import type { ServerState } from '../../../../../supervisor/life-cycle/server-state.ts';
import type { JsonObject } from '../../../../../shared/api/well-known.ts';
import { ask } from '../ask.ts';
import { fakeContext } from '../fake-context.ts';

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
