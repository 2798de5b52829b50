/** What a cluster says of its requests in place of their routes: hash policies, mirrors, retries. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { protocol } from '../../support/programs/http2-upstreams.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const REQUESTS = 30;
const byHeader = (header_name: string): object => ({ header: { header_name } });

// All as seen from Envoy 1.40.0.
describe('policies of a cluster', () => {
  it('take the place of those of its routes', async () => {
    await using first = await startHttpUpstream();
    await using second = await startHttpUpstream();
    await using mirror = await startHttpUpstream();
    await using unused = await startHttpUpstream();
    const route = {
      cluster: 'up',
      hash_policy: [byHeader('x-route')],
      request_mirror_policies: [{ cluster: 'unused' }],
    };
    const options = protocol({
      explicit_http_config: { http_protocol_options: {} },
      hash_policy: [byHeader('x-cluster')],
      request_mirror_policies: [{ cluster: 'mirror' }],
    });
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener([{ match: { prefix: '/' }, route }])],
        clusters: [
          staticCluster('up', [first.port, second.port], { lb_policy: 'RING_HASH', ...options }),
          staticCluster('mirror', [mirror.port]),
          staticCluster('unused', [unused.port]),
        ],
      }),
    });
    const port = await sluice.listenerPort('web');
    const counts = (): readonly number[] => [first, second].map(({ requests }) => requests.length);
    const askAll = async (headersOf: (turn: number) => Record<string, string>): Promise<void> => {
      for (let turn = 0; turn < REQUESTS; turn++) {
        assert.equal((await fetchOnce({ port, headers: headersOf(turn) })).status, 200);
      }
    };
    await askAll((turn) => ({ 'x-cluster': 'one', 'x-route': String(turn) }));
    assert.deepEqual(
      [...counts()].sort((a, b) => a - b),
      [0, REQUESTS],
    );
    await askAll((turn) => ({ 'x-cluster': String(turn), 'x-route': 'one' }));
    assert.ok(
      counts().every((count) => count > 0),
      counts().join(),
    );
    await waitUntil('every copy', () => isTold(mirror, 2 * REQUESTS));
    assert.equal(unused.requests.length, 0);
  });

  it('take the place of how routes try again, but for the time limit of an attempt', async () => {
    await using failing = await startHttpUpstream((_, response) => response.writeHead(503).end());
    await using silent = await startHttpUpstream(() => undefined);
    const explicit = { explicit_http_config: { http_protocol_options: {} } };
    const retrying = (name: string, port: number, retry_policy: object): object =>
      staticCluster(name, [port], protocol({ ...explicit, retry_policy }));
    const limit = { per_try_timeout: '0.2s' };
    const to = (cluster: string, fields: object = {}): object => ({
      match: { path: `/${cluster}` },
      route: { cluster, timeout: '0.5s', ...fields },
    });
    const onRoute = { retry_policy: { retry_on: '5xx', num_retries: 1 } };
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener([to('three', onRoute), to('none', onRoute), to('slow')])],
        clusters: [
          retrying('three', failing.port, { retry_on: '5xx', num_retries: 3 }),
          retrying('none', failing.port, { retry_on: 'reset', num_retries: 3 }),
          retrying('slow', silent.port, { retry_on: '5xx', num_retries: 3, ...limit }),
        ],
      }),
    });
    const port = await sluice.listenerPort('web');
    const attempts = async (name: string, { requests }: HttpUpstream): Promise<number> => {
      const before = requests.length;
      await fetchOnce({ port, path: `/${name}` });
      return requests.length - before;
    };
    assert.equal(await attempts('three', failing), 4);
    assert.equal(await attempts('none', failing), 1);
    assert.equal(await attempts('slow', silent), 1);
  });
});

function isTold({ requests }: HttpUpstream, count: number): boolean {
  return requests.length === count;
}
