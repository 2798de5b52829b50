/**
 * Tables of hashes as large as the API allows, of a server that goes on answering while they are
 * made.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { attackRuns } from '../../support/attack.ts';
import { fileSource, moveIntoPlace } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const RING_PLACES = attackRuns(300_000, 8_388_608);
const MAGLEV_PLACES = attackRuns(300_007, 5_000_011);
const HOSTS = 100;
/**
 * What a request may take on a machine with much else to do; a table made at once takes seconds.
 */
const LIMIT_MS = 500;

function endpoints(hosts: number, from: number): object {
  return {
    '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
    cluster_name: 'up',
    endpoints: [
      {
        lb_endpoints: Array.from({ length: hosts }, (_, at) => ({
          endpoint: {
            address: { socket_address: { address: `127.9.0.${at + from}`, port_value: 9 } },
          },
        })),
      },
    ],
  };
}

const POLICIES = {
  RING_HASH: {
    ring_hash_lb_config: { minimum_ring_size: RING_PLACES, maximum_ring_size: RING_PLACES },
  },
  MAGLEV: { maglev_lb_config: { table_size: MAGLEV_PLACES } },
} as const;

describe('a table of hashes of the largest size', () => {
  for (const policy of ['RING_HASH', 'MAGLEV'] as const) {
    it(`of ${policy} keeps no request waiting while hosts come, go and flap`, async () => {
      using scratch = makeScratch();
      let version = 0;
      const put = (hosts: number, from: number): void => {
        const resources = [endpoints(hosts, from)];
        moveIntoPlace(scratch, 'eds.json', { version: String(++version), resources });
      };
      put(1, 1);
      const cluster = {
        name: 'up',
        type: 'EDS',
        connect_timeout: '1s',
        lb_policy: policy,
        ...POLICIES[policy],
        eds_cluster_config: { eds_config: fileSource(scratch.file('eds.json')) },
      };
      const routes = [
        { match: { prefix: '/up' }, route: { cluster: 'up' } },
        { match: { prefix: '/' }, direct_response: { status: 200 } },
      ];
      await using sluice = await startSluice({
        scratch,
        bootstrap: bootstrap(
          { listeners: [httpListener(routes)], clusters: [cluster] },
          { node: { id: 'test', cluster: 'test' } },
        ),
      });
      const port = await sluice.listenerPort('web');
      const workers = childrenOf(sluice.pid);
      const gauge =
        policy === 'RING_HASH'
          ? 'cluster.up.ring_hash_lb.max_hashes_per_host'
          : 'cluster.up.maglev_lb.max_entries_per_host';
      const places = policy === 'RING_HASH' ? RING_PLACES : MAGLEV_PLACES;
      let slowestMs = 0;
      /** Asks again and again until the table for so many hosts is in force. */
      const becomes = async (hosts: number): Promise<void> => {
        for (;;) {
          const begun = performance.now();
          assert.equal((await fetchOnce({ port })).status, 200);
          slowestMs = Math.max(slowestMs, performance.now() - begun);
          const most = await sluice.stat(gauge);
          if (Math.abs(most - places / hosts) < 2) return;
        }
      };
      put(HOSTS, 1);
      await becomes(HOSTS);
      put(HOSTS - 1, 2);
      await becomes(HOSTS - 1);
      for (let flap = 0; flap < 10; flap++) {
        put(HOSTS - (flap % 3), 1);
        assert.equal((await fetchOnce({ port })).status, 200);
      }
      put(7, 1);
      await becomes(7);
      assert.ok(slowestMs < LIMIT_MS, `${slowestMs} ms`);
      assert.equal((await fetchOnce({ port, path: '/up' })).status, 503);
      assert.deepEqual(childrenOf(sluice.pid), workers);
    });
  }
});
