import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, it } from 'node:test';
import { type RunningDataPlane, startDataPlane } from '../../support/parts/data-plane.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const figure = (plane: RunningDataPlane, name: string): number =>
  plane.stats().get(`cluster.up.${name}`) ?? 0;

describe('connections to hosts', () => {
  it('are made ahead of the requests to a host that are expected', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end());
    await using plane = await startDataPlane({
      cluster: { preconnect: { perHost: 2, predictive: 1 } },
      upstreamPorts: [upstream.port],
    });
    for (let count = 0; count < 3; count++) await fetchOnce({ port: plane.port });
    assert.equal(figure(plane, 'upstream_cx_total'), 2);
    assert.equal(figure(plane, 'upstream_rq_total'), 3);
  });

  it('are made ahead to the hosts that are next', async () => {
    await using upstreams = await startHosts(3);
    await using plane = await startDataPlane({
      cluster: { preconnect: { perHost: 1, predictive: 3 } },
      upstreamPorts: upstreams.ports,
    });
    await fetchOnce({ port: plane.port });
    assert.equal(figure(plane, 'upstream_cx_total'), 3);
    await fetchOnce({ port: plane.port });
    await fetchOnce({ port: plane.port });
    assert.deepEqual(upstreams.requests, [1, 1, 1]);
    assert.equal(figure(plane, 'upstream_cx_total'), 3);
  });

  it('serve one client alone where each is to have its own', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end());
    await using plane = await startDataPlane({
      cluster: { hasPoolPerClient: true },
      upstreamPorts: [upstream.port],
    });
    for (let count = 0; count < 2; count++) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      await ask(plane.port, agent);
      await ask(plane.port, agent);
      agent.destroy();
    }
    assert.equal(figure(plane, 'upstream_cx_total'), 2);
    assert.equal(figure(plane, 'upstream_rq_total'), 4);
  });
});

interface Hosts extends AsyncDisposable {
  readonly ports: readonly number[];
  /** Seen by each. */
  readonly requests: number[];
}

async function startHosts(count: number): Promise<Hosts> {
  const requests = Array.from({ length: count }, () => 0);
  const hosts = await Promise.all(
    requests.map((_, at) =>
      startHttpUpstream((__, response) => {
        requests[at] = (requests[at] ?? 0) + 1;
        response.end();
      }),
    ),
  );
  return {
    ports: hosts.map(({ port }) => port),
    requests,
    [Symbol.asyncDispose]: async () => {
      for (const host of hosts) await host[Symbol.asyncDispose]();
    },
  };
}

function ask(port: number, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent }, (response) => {
      response.resume().on('end', () => resolve());
    })
      .on('error', reject)
      .end();
  });
}
