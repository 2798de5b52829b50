/** One epoch takes over from another while clients go on asking. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { staticCluster } from '../../support/parts/bootstrap.ts';
import { makeEpochs, okBootstrap } from '../../support/programs/epochs.ts';
import { startLoad } from '../../support/peers/load.ts';
import { waitUntil } from '../../support/wait.ts';

// They wait for epochs that drain, so they wait together.
describe('a hot restart', { concurrency: 3 }, () => {
  it('fails no request, whatever the numbers of workers are, and no counter goes back', async () => {
    await using epochs = await makeEpochs({ isGradual: true });
    const first = await epochs.start(0, { concurrency: 1 });
    const load = startLoad({ port: epochs.port, restMs: 16 });
    const second = await epochs.start(1, { concurrency: 4 });
    assert.deepEqual(await first.exited(), { code: 0, signal: null });
    const third = await epochs.start(2, { concurrency: 2 });
    assert.deepEqual(await second.exited(), { code: 0, signal: null });
    const { finished, failures } = await load.stop();
    assert.deepEqual(failures, []);
    assert.equal(await third.stat('http.web.downstream_rq_total'), finished);
    assert.equal(await third.stat('server.hot_restart_generation'), 3);
    assert.equal(await third.stat('server.hot_restart_epoch'), 2);
    assert.equal(await third.stat('server.parent_connections'), 0);
  });

  it('fails no request while the control plane is away: the file is what a child begins with', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 1 });
    const ads = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '0.2s' };
    const base = okBootstrap(epochs.port, epochs.adminPort) as { static_resources: object };
    const clusters = [staticCluster('control', [1], { http2_protocol_options: {} })];
    const services = [{ envoy_grpc: { cluster_name: 'control' } }];
    const bootstrap = {
      ...base,
      node: { id: 'me', cluster: 'mine' },
      static_resources: { ...base.static_resources, clusters },
      dynamic_resources: {
        ads_config: { api_type: 'GRPC', transport_api_version: 'V3', grpc_services: services },
        cds_config: ads,
        lds_config: ads,
      },
    };
    const first = await epochs.start(0, { bootstrap });
    const load = startLoad({ port: epochs.port, restMs: 16 });
    const second = await epochs.start(1, { bootstrap });
    assert.deepEqual(await first.exited(), { code: 0, signal: null });
    assert.deepEqual((await load.stop()).failures, []);
    assert.equal((await second.admin('/ready')).body, 'LIVE\n');
  });

  it('ends the grandparent at once when a third epoch starts', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 600 });
    const first = await epochs.start(0);
    await epochs.start(1);
    assert.equal(first.process.exitCode, null);
    await epochs.start(2);
    assert.deepEqual(await first.exited(), { code: 0, signal: null });
  });

  it('shares one socket among workers without reuse_port', async () => {
    await using epochs = await makeEpochs({ listener: { enable_reuse_port: { value: false } } });
    await epochs.start(0);
    const load = startLoad({ port: epochs.port, restMs: 16 });
    const second = await epochs.start(1, { concurrency: 3 });
    await second.waitForStat('server.parent_connections', (value) => value === 0);
    assert.deepEqual((await load.stop()).failures, []);
  });

  it('keeps the file of a unix socket, also by hot restart sockets that are files', async () => {
    const folder = `/tmp/sluice-test-hr-${process.pid}`;
    const path = `${folder}.sock`;
    await using epochs = await makeEpochs({
      listener: { address: { pipe: { path, mode: 0o600 } } },
    });
    const args = ['--socket-path', join(epochs.scratch.path, 'hot'), '--socket-mode', '620'];
    const first = await epochs.start(0, { args });
    const names = readdirSync(epochs.scratch.path).filter((name) => name.startsWith('hot_'));
    assert.equal(names.length, 4);
    assert.equal(statSync(join(epochs.scratch.path, names[0] ?? '')).mode & 0o777, 0o620);
    const load = startLoad({ socketPath: path, restMs: 16 });
    const second = await epochs.start(1, { args });
    await first.exited();
    assert.ok(existsSync(path));
    assert.deepEqual((await load.stop()).failures, []);
    assert.equal((await second.stop()).code, 0);
    assert.equal(existsSync(path), false);
    const left = readdirSync(epochs.scratch.path).filter((name) => name.startsWith('hot_'));
    assert.deepEqual(left, []);
  });

  it('leaves neither descriptors nor shared memory behind', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 600 });
    let sluice = await epochs.start(0, { concurrency: 1 });
    const before = await descriptorsOf(sluice.pid);
    for (let epoch = 1; epoch <= 3; epoch += 1) {
      sluice = await epochs.start(epoch, { concurrency: 1 });
    }
    assert.equal((await sluice.admin('/ready')).status, 200);
    const { pid } = sluice;
    await waitUntil(`${before} descriptors or so`, () => descriptorCount(pid) <= before + 1);
    assert.equal((await sluice.stop()).code, 0);
    await waitUntil(
      'the end of the shared memory',
      () => !existsSync(`/dev/shm/envoy_shared_memory_${epochs.baseId * 10}`),
    );
  });
});

/** After the start has settled: as few as are seen in a while. */
async function descriptorsOf(pid: number): Promise<number> {
  const counts: number[] = [];
  await waitUntil('a while of counting', () => {
    counts.push(descriptorCount(pid));
    return counts.length > 50;
  });
  return Math.min(...counts);
}

function descriptorCount(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
