import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const ROUTES = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
const STAT = 'cluster.up.outlier_detection';

describe('outlier detection', () => {
  it('ejects a host after failures in a row over all workers, and lets it back in time', async () => {
    await using broken = await startHttpUpstream((_, response) => {
      response.statusCode = 500;
      response.end('broken');
    });
    await using good = await startHttpUpstream((_, response) => response.end('good'));
    const outlier = {
      consecutive_5xx: 3,
      interval: '0.1s',
      base_ejection_time: '600s',
      max_ejection_percent: 50,
    };
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap(
        {
          listeners: [httpListener(ROUTES)],
          clusters: [staticCluster('up', [broken.port, good.port], { outlier_detection: outlier })],
        },
        { layered_runtime: { layers: [{ name: 'admin', admin_layer: {} }] } },
      ),
    });
    const port = await sluice.listenerPort('web');
    const answers: number[] = [];
    while (answers.filter((status) => status === 500).length < 3 && answers.length < 40) {
      answers.push((await fetchOnce({ port, path: '/' })).status);
    }
    await sluice.waitForStat(`${STAT}.ejections_active`, (count) => count === 1);
    assert.equal(await sluice.stat(`${STAT}.ejections_enforced_consecutive_5xx`), 1);
    const { body } = await sluice.admin('/clusters');
    assert.match(
      body,
      new RegExp(`up::127.0.0.1:${broken.port}::health_flags::/failed_outlier_check`),
    );
    assert.match(body, /up::outlier::success_rate_average::-1/);
    const soon = '/runtime_modify?outlier_detection.base_ejection_time_ms=1';
    assert.equal((await sluice.admin({ path: soon, method: 'POST' })).status, 200);
    await sluice.waitForStat(`${STAT}.ejections_active`, (count) => count === 0);
    assert.equal(await sluice.stat('cluster.up.membership_healthy'), 2);
  });
});
