/** Hosts that an operator drains, takes down or weighs, over updates and hot restarts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fileSource, moveIntoPlace, resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { loopback, makeEpochs } from '../../support/programs/epochs.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const ROUTES = [{ match: { prefix: '/' }, route: { cluster: 'web' } }];

async function startHost(name: string): Promise<HttpUpstream> {
  return await startHttpUpstream((_, response) => response.end(name));
}

describe('the state of a host that an operator orders', () => {
  const scratch = makeScratch();
  let first: HttpUpstream;
  let second: HttpUpstream;
  let sluice: Sluice;
  let port: number;

  const assign = (version: string, ports: readonly number[]): void =>
    moveIntoPlace(scratch, 'eds.json', { version, resources: [resource.endpoints('web', ports)] });
  const order = async (query: string): Promise<{ status: number; body: string }> => {
    const answer = await sluice.admin({ method: 'POST', path: `/hosts/state?${query}` });
    await sluice.settled();
    return answer;
  };
  const ordered = async (host: HttpUpstream, query: string): Promise<void> => {
    const { status, body } = await order(`cluster=web&host=127.0.0.1:${host.port}&${query}`);
    assert.equal(status, 200, body);
  };
  /** Who answered how many of these requests. */
  const answers = async (count: number): Promise<Readonly<{ first: number; second: number }>> => {
    const got = { first: 0, second: 0 };
    for (let at = 0; at < count; at++) {
      const { body } = await fetchOnce({ port });
      got[body === 'first' ? 'first' : 'second'] += 1;
    }
    return got;
  };

  before(async () => {
    [first, second] = await Promise.all([startHost('first'), startHost('second')]);
    assign('1', [first.port, second.port]);
    sluice = await startSluice({
      args: ['--service-node', 'n', '--service-cluster', 'c'],
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES)],
        clusters: [
          {
            name: 'web',
            type: 'EDS',
            eds_cluster_config: { eds_config: fileSource(scratch.file('eds.json')) },
          },
        ],
      }),
    });
    port = await sluice.listenerPort('web');
  });
  after(async () => {
    await sluice.stop();
    await first.close();
    await second.close();
    scratch[Symbol.dispose]();
  });

  for (const state of ['drain', 'down']) {
    it(`leaves a host without new requests: ${state}`, async () => {
      await ordered(first, `state=${state}`);
      assert.deepEqual(await answers(6), { first: 0, second: 6 });
      const { body } = await sluice.admin('/clusters');
      assert.match(body, new RegExp(`:${first.port}::operator::${state}\n`));
      assert.doesNotMatch(body, new RegExp(`:${second.port}::operator`));
      assert.equal(await sluice.stat('sluice.host_orders'), 1);
      await ordered(first, 'state=up');
      assert.deepEqual(await answers(6), { first: 3, second: 3 });
      assert.equal(await sluice.stat('sluice.host_orders'), 0);
    });
  }

  it('weighs a host', async () => {
    await ordered(second, 'weight=3');
    assert.deepEqual(await answers(12), { first: 3, second: 9 });
    await ordered(second, 'state=up');
  });

  it('holds over updates of the hosts', async () => {
    await ordered(first, 'state=drain');
    const before = await sluice.stat('cluster.web.update_success');
    assign('2', [second.port, first.port]);
    await sluice.waitForStat('cluster.web.update_success', (value) => value > before);
    await sluice.settled();
    assert.deepEqual(await answers(4), { first: 0, second: 4 });
    await ordered(first, 'state=up');
    assert.deepEqual(await answers(4), { first: 2, second: 2 });
  });

  it('ends with its time', async () => {
    await ordered(first, 'state=down&ttl=1');
    const { body } = await sluice.admin('/hosts');
    const { orders } = JSON.parse(body) as { orders: { until: string }[] };
    assert.equal(orders.length, 1);
    assert.ok(Date.parse(orders[0]?.until ?? '') > Date.now() - 1000);
    await sluice.waitForStat('sluice.host_orders', (value) => value === 0);
    await sluice.settled();
    assert.deepEqual(await answers(4), { first: 2, second: 2 });
  });

  const refused: readonly [query: string, status: number, text: RegExp][] = [
    ['', 400, /cluster and host/],
    ['cluster=web&host=constructor&state=drain', 404, /no such host/],
    ['cluster=__proto__&host=a&state=drain', 404, /no such cluster/],
    ['cluster=web&host=a&state=up', 404, /nothing is ordered/],
    ['cluster=web&host=a', 400, /state or weight/],
    ['cluster=web&host=a&state=gone', 400, /one of drain/],
    ['cluster=web&host=a&weight=0', 400, /weight/],
    ['cluster=web&host=a&weight=1e3', 400, /weight/],
    ['cluster=web&host=a&state=down&ttl=-1', 400, /ttl/],
  ];
  for (const [query, status, text] of refused) {
    it(`is refused for ${query === '' ? 'nothing' : query}`, async () => {
      const answer = await order(query);
      assert.equal(answer.status, status);
      assert.match(answer.body, text);
    });
  }

  it('takes a POST', async () => {
    assert.equal((await sluice.admin('/hosts/state?cluster=web')).status, 400);
  });
});

describe('a hot restart', () => {
  it('hands on what is ordered for hosts', async () => {
    await using first = await startHost('first');
    await using second = await startHost('second');
    const cluster = staticCluster('web', [first.port, second.port]);
    await using epochs = await makeEpochs();
    const listener = { address: loopback(epochs.port) };
    const config = bootstrap(
      { listeners: [httpListener(ROUTES, { listener })], clusters: [cluster] },
      { admin: { address: loopback(epochs.adminPort) } },
    );
    const parent = await epochs.start(0, { bootstrap: config, concurrency: 1 });
    const query = `cluster=web&host=127.0.0.1:${first.port}&state=drain&ttl=600`;
    await parent.admin({ method: 'POST', path: `/hosts/state?${query}` });
    const child = await epochs.start(1, { bootstrap: config, concurrency: 1 });
    const { body } = await child.admin('/hosts');
    const { orders } = JSON.parse(body) as { orders: object[] };
    assert.equal(orders.length, 1);
    const bodies = new Set<string>();
    for (let at = 0; at < 4; at++) bodies.add((await fetchOnce({ port: epochs.port })).body);
    assert.deepEqual([...bodies], ['second']);
  });
});
