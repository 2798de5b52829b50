import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fileSource, moveIntoPlace } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

/** Above what is sent whole each time. */
const COUNT = 510;
const AT_ONCE = 30;

const addresses = Array.from({ length: COUNT }, (_, at) => `127.9.${at >> 8}.${at & 255}`);

function endpoints(hosts: readonly string[], port: number): object {
  const lb_endpoints = hosts.map((address) => ({
    endpoint: { address: { socket_address: { address, port_value: port } } },
  }));
  return {
    '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
    cluster_name: 'up',
    endpoints: [{ lb_endpoints }],
  };
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

/** Each host that answers to as many requests as there are hosts, which take turns. */
async function answering(port: number): Promise<readonly string[]> {
  const answers = Array.from({ length: COUNT }, async () => {
    const [response] = (await once(get({ port, agent }), 'response')) as [IncomingMessage];
    return await text(response);
  });
  return (await Promise.all(answers)).toSorted();
}

describe('a host set of hundreds that changes a little', () => {
  it('is the same in a worker that saw all changes and in one that came between two', async () => {
    using scratch = makeScratch();
    const upstream = createServer(({ socket }, response) => response.end(socket.localAddress));
    await once(upstream.listen(0, '0.0.0.0'), 'listening');
    const { port: upstreamPort } = upstream.address() as AddressInfo;
    let version = 0;
    const put = (hosts: readonly string[]): void => {
      const resources = [endpoints(hosts, upstreamPort)];
      moveIntoPlace(scratch, 'eds.json', { version: String(++version), resources });
    };
    put(addresses);
    const cluster = {
      name: 'up',
      type: 'EDS',
      connect_timeout: '1s',
      eds_cluster_config: { eds_config: fileSource(scratch.file('eds.json')) },
    };
    await using sluice = await startSluice({
      scratch,
      bootstrap: bootstrap(
        {
          listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
          clusters: [cluster],
        },
        { node: { id: 'test', cluster: 'test' } },
      ),
    });
    try {
      const port = await sluice.listenerPort('web');
      const becomes = async (hosts: readonly string[]): Promise<void> => {
        put(hosts);
        await waitUntil('the hosts', async () => {
          const found = await answering(port);
          return found.join() === hosts.toSorted().join();
        });
      };
      const first = addresses.with(7, '127.9.8.1').with(300, '127.9.8.2');
      await becomes(first);
      const [worker = 0] = childrenOf(sluice.pid);
      process.kill(worker, 'SIGKILL');
      await sluice.waitForStat('sluice.worker.restarts', (count) => count === 1);
      await sluice.waitForStat('server.live', (live) => live === 1);
      await waitUntil(
        'an answer',
        async () => (await fetchOnce({ port, path: '/' }).catch(() => undefined))?.status === 200,
      );
      // The new worker has no set before this one, which goes to it as a whole; the next does not.
      const second = ['127.9.8.3', ...first.slice(1)];
      put(second);
      await sluice.waitForStat('cluster.up.update_success', (count) => count === 3);
      await becomes([...second.slice(0, 100), ...second.slice(101), '127.9.8.4']);
      assert.equal(await sluice.stat('cluster.up.membership_total'), COUNT);
    } finally {
      agent.destroy();
      upstream.close();
      upstream.closeAllConnections();
    }
  });
});
