import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { httpListener } from '../../support/bootstrap.ts';
import { fileSource, moveIntoPlace, resource } from '../../support/discovery-files.ts';
import { fetchOnce } from '../../support/http-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { ADMIN, startSluice } from '../../support/sluice.ts';
import { startHttpUpstream } from '../../support/upstream.ts';

describe('a cluster with health checks that is changed', () => {
  it('keeps what was found of its hosts, and has hosts at every moment', async () => {
    using scratch = makeScratch();
    let checks = 0;
    await using upstream = await startHttpUpstream((request, response) => {
      // Only the first check is answered.
      if (request.url !== '/health') response.end('ok');
      else if (++checks === 1) response.end();
    });
    const clusterOf = (timeout: string): object =>
      resource.cluster({
        name: 'up',
        type: 'EDS',
        connect_timeout: timeout,
        eds_cluster_config: { eds_config: fileSource(scratch.file('eds.json')) },
        common_lb_config: { healthy_panic_threshold: { value: 0 } },
        health_checks: [
          {
            timeout: '30s',
            interval: '60s',
            healthy_threshold: 1,
            unhealthy_threshold: 1,
            http_health_check: { path: '/health' },
          },
        ],
      });
    const endpoints = resource.endpoints('up', [upstream.port]);
    moveIntoPlace(scratch, 'eds.json', { version: '1', resources: [endpoints] });
    moveIntoPlace(scratch, 'cds.json', { version: '1', resources: [clusterOf('1s')] });
    const route = { match: { prefix: '/' }, route: { cluster: 'up' } };
    const routes = {
      name: 'routes',
      validate_clusters: false,
      virtual_hosts: [{ name: 'all', domains: ['*'], routes: [route] }],
    };
    await using sluice = await startSluice({
      bootstrap: {
        node: { id: 'me', cluster: 'mine' },
        admin: ADMIN,
        static_resources: { listeners: [httpListener([], { hcm: { route_config: routes } })] },
        dynamic_resources: { cds_config: fileSource(scratch.file('cds.json')) },
      },
    });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/' })).status, 200);
    moveIntoPlace(scratch, 'cds.json', { version: '2', resources: [clusterOf('2s')] });
    const statuses = new Set<number>();
    let isChanged = false;
    for (let after = 0; after < 20;) {
      statuses.add((await fetchOnce({ port, path: '/' })).status);
      isChanged ||= (await sluice.stat('cluster_manager.cluster_modified')) === 1;
      if (isChanged) after += 1;
    }
    assert.deepEqual([...statuses], [200]);
    assert.equal(await sluice.stat('cluster.up.membership_healthy'), 1);
    assert.match((await sluice.admin('/clusters')).body, /health_flags::healthy/);
  });
});
