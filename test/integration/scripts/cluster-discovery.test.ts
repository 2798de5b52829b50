import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { runSluice, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

/** Yields what a file says, whenever it is another text; some texts are faults. */
const MODULE = `
import { readFile } from 'node:fs/promises';
import { defineClusterDiscovery, object, string } from 'sluice/filter';

export default defineClusterDiscovery({
  schema: object({ path: string() }),
  async *discover({ path }, { cluster, log, wait }) {
    log.info(\`looks for \${cluster}\`);
    let before = '';
    for (;; await wait(10)) {
      const text = await readFile(path, 'utf8');
      if (text === before) continue;
      before = text;
      if (text === 'throw') throw new Error('on purpose');
      if (text === 'loop') for (;;);
      if (text === 'many') yield Array.from({ length: 100_000 }, () => ({ address: '127.0.0.1', port: 1 }));
      else if (text !== 'silent') yield JSON.parse(text);
    }
  },
});
`;

const GROWING = `
import { defineClusterDiscovery } from 'sluice/filter';
const all = [];
export default defineClusterDiscovery({
  async *discover() {
    yield [{ address: '/nowhere' }];
    for (;;) all.push(new Array(50_000).fill(all.length));
  },
});
`;

function moduleCluster(name: string, file: string, fields: object = {}): object {
  const typed_config = {
    '@type': 'type.googleapis.com/sluice.clusters.script.v1.ScriptCluster',
    file,
    ...fields,
  };
  return { name, cluster_type: { name: 'sluice.clusters.script', typed_config } };
}

interface Given {
  readonly scratch: Scratch;
  /** A cluster whose hosts stand in a file of its name. */
  readonly cluster: (name: string, says: unknown, fields?: object) => object;
  readonly say: (name: string, says: unknown) => void;
}

function given(source = MODULE): Given {
  const scratch = makeScratch();
  const say = (name: string, says: unknown): void => {
    const path = scratch.file(`${name}.json`);
    writeFileSync(`${path}.new`, typeof says === 'string' ? says : JSON.stringify(says));
    renameSync(`${path}.new`, path);
  };
  return {
    scratch,
    say,
    cluster(name, says, fields) {
      const file = scratch.file(`${name}.ts`);
      writeFileSync(file, source);
      say(name, says);
      return moduleCluster(name, file, {
        settings: { path: scratch.file(`${name}.json`) },
        ...fields,
      });
    },
  };
}

const routes = (names: readonly string[]): object[] =>
  names.map((cluster) => ({ match: { prefix: `/${cluster}` }, route: { cluster } }));

async function ask(sluice: Sluice, path: string): Promise<string> {
  const port = await sluice.listenerPort('web');
  return (await fetchOnce({ port, path })).body;
}

const at = (port: number, more: object = {}): object => ({ address: '127.0.0.1', port, ...more });

describe('clusters whose hosts a module finds', () => {
  it('have its lists, and keep their hosts over what is no list', async () => {
    await using first = await startHttpUpstream((_, response) => response.end('first'));
    await using second = await startHttpUpstream((_, response) => response.end('second'));
    const { scratch, cluster, say } = given();
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(routes(['app']))],
        clusters: [cluster('app', [at(first.port)])],
      }),
      scratch,
    });
    // The server was ready when the first list was there.
    assert.equal(await ask(sluice, '/app'), 'first');
    assert.match(sluice.stderr(), /looks for app/);
    const zone = { region: 'r', zone: 'z' };
    const metadata = { 'envoy.lb': { canary: true } };
    say('app', [
      at(second.port, { weight: 7, locality: zone, metadata, hostname: 'two' }),
      at(first.port, { health: 'unhealthy', priority: 1 }),
    ]);
    await sluice.waitForStat('cluster.app.update_success', (count) => count === 2);
    assert.equal(await ask(sluice, '/app'), 'second');
    const { body } = await sluice.admin('/clusters');
    const host = `app::127.0.0.1:${second.port}`;
    for (const fact of ['weight::7', 'zone::z', 'region::r', 'canary::true', 'hostname::two']) {
      assert.ok(body.includes(`${host}::${fact}\n`), fact);
    }
    assert.ok(body.includes(`app::127.0.0.1:${first.port}::health_flags::/failed_eds_health`));
    for (const [count, wrong] of ['{}', 'many', [{ address: 'a.name', port: 80 }]].entries()) {
      say('app', wrong);
      await sluice.waitForStat('cluster.app.update_rejected', (seen) => seen === count + 1);
    }
    assert.match(sluice.stderr(), /rejected: app \(.*app\.ts\): it gave no array of hosts/);
    assert.match(sluice.stderr(), /it gave 100000 hosts, and at most 50000 may be/);
    assert.match(sluice.stderr(), /host 0 of its list has the address a\.name, which is no IP/);
    assert.equal(await ask(sluice, '/app'), 'second');
    say('app', []);
    await waitUntil('no host', async () => (await ask(sluice, '/app')) === 'no healthy upstream');
  });

  it('keep their hosts while the module fails, and have it begin again', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    const { scratch, cluster, say } = given();
    const hosts = [at(upstream.port)];
    const names = ['throwing', 'looping', 'growing', 'silent'];
    const growing = scratch.file('growing.ts');
    writeFileSync(growing, GROWING);
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(routes(names))],
        clusters: [
          cluster('throwing', hosts),
          cluster('looping', hosts, { loop_timeout: '0.2s' }),
          cluster('silent', 'silent', { initial_fetch_timeout: '0.2s' }),
          moduleCluster('growing', growing, { loop_timeout: '60s' }),
        ],
      }),
      scratch,
    });
    assert.equal(await ask(sluice, '/silent'), 'no healthy upstream');
    assert.equal(await sluice.stat('cluster.silent.init_fetch_timeout'), 1);
    say('throwing', 'throw');
    say('looping', 'loop');
    for (const name of ['throwing', 'looping', 'growing']) {
      await sluice.waitForStat(`cluster.${name}.update_failure`, (count) => count >= 1);
    }
    assert.match(sluice.stderr(), /throwing \(.*\): Error: on purpose\\n +at .*throwing\.ts:14:/);
    assert.match(sluice.stderr(), /looping \(.*\): it held its thread for longer than 200 ms/);
    assert.match(sluice.stderr(), /growing \(.*memory limit/);
    assert.equal(await ask(sluice, '/throwing'), 'here');
    assert.equal(await ask(sluice, '/looping'), 'here');
    for (const name of ['throwing', 'looping', 'silent']) {
      const before = await sluice.stat(`cluster.${name}.update_success`);
      say(name, [...hosts, at(1, { priority: 1 })]);
      await sluice.waitForStat(`cluster.${name}.update_success`, (count) => count > before);
      assert.equal(await ask(sluice, `/${name}`), 'here');
    }
  });

  it('come from control planes as well, and have a changed module after a reload', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    const { scratch, cluster } = given();
    const type = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
    const sent = { resources: [{ '@type': type, ...cluster('app', []) }] };
    writeFileSync(scratch.file('cds.json'), JSON.stringify(sent));
    const hosts = [{ name: 'all', domains: ['*'], routes: routes(['app']) }];
    // The cluster comes later.
    const hcm = { route_config: { validate_clusters: false, virtual_hosts: hosts } };
    const dynamic = { cds_config: { path: scratch.file('cds.json') } };
    await using sluice = await startSluice({
      bootstrap: bootstrap(
        { listeners: [httpListener([], { hcm })], clusters: [] },
        { dynamic_resources: dynamic, node: { id: 'n', cluster: 'c' } },
      ),
      args: ['--script-folders', scratch.path],
      scratch,
    });
    assert.equal(await ask(sluice, '/app'), 'no healthy upstream');
    const reload = async (text: string): Promise<string> => {
      writeFileSync(scratch.file('app.ts'), text);
      return (await sluice.admin({ path: '/filters/reload', method: 'POST' })).body;
    };
    assert.match(
      await reload(MODULE.replace('path: string()', 'other: string()')),
      /settings\.other/,
    );
    const changed = MODULE.replace(
      'yield JSON.parse(text)',
      `yield [{ address: '127.0.0.1', port: ${upstream.port} }]`,
    );
    assert.match(await reload(changed), /"outcome": "reloaded"/);
    await waitUntil('a host', async () => (await ask(sluice, '/app')) === 'here');
  });

  it('are refused where settings are wrong, or the module is of another kind', async () => {
    const { scratch, cluster } = given();
    using _ = scratch;
    writeFileSync(
      scratch.file('filter.ts'),
      "import { defineFilter } from 'sluice/filter';\nexport default defineFilter({ create: () => ({}) });\n",
    );
    const clusters = [
      cluster('app', [], { settings: {} }),
      moduleCluster('other', scratch.file('filter.ts')),
    ];
    const config = scratch.file('config.json');
    writeFileSync(config, JSON.stringify(bootstrap({ listeners: [], clusters }), undefined, 1));
    const { code, stderr } = await runSluice(['--mode', 'validate', '-c', config]);
    assert.equal(code, 1);
    assert.match(stderr, /config\.json:\d+:\d+: .*settings\.path: must be a string/);
    assert.match(stderr, /its default export is not made by defineClusterDiscovery\(\)/);
  });
});
