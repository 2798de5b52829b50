/** Listeners of all kinds, and listeners that differ from epoch to epoch. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fileSource, moveIntoPlace, resource } from '../../support/peers/discovery-files.ts';
import { freePort, loopback, makeEpochs } from '../../support/programs/epochs.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { HTTP_KINDS, makeListenerKinds } from '../../support/parts/listener-kinds.ts';
import { startLoad } from '../../support/peers/load.ts';
import { waitUntil } from '../../support/wait.ts';

// They wait for epochs that drain, so they wait together.
describe('a hot restart', { concurrency: true }, () => {
  it('loses nothing on plain, unix, TLS and TCP proxy listeners at once', async () => {
    // The age at which TCP connections go has to pass before the parent's end on a busy machine
    // too.
    await using epochs = await makeEpochs({ parentShutdownTime: 3 });
    const kinds = await makeListenerKinds({
      folder: epochs.scratch.path,
      ports: [epochs.port, await freePort(), await freePort()],
      adminPort: epochs.adminPort,
    });
    try {
      const first = await epochs.start(0, { bootstrap: kinds.bootstrap });
      const load = startLoad(...kinds.targets.map((target) => ({ ...target, restMs: 24 })));
      const second = await epochs.start(1, { bootstrap: kinds.bootstrap });
      assert.deepEqual(await first.exited(), { code: 0, signal: null });
      const { failures, finishedByTarget } = await load.stop();
      assert.deepEqual(failures, []);
      // A read of statistics does not wait for a worker that is busy.
      for (const [at, name] of HTTP_KINDS.entries()) {
        await second.waitForStat(name, (value) => value === finishedByTarget[at]);
      }
      const proxied = kinds.upstreamConnections();
      await second.waitForStat('tcp.tcp.downstream_cx_total', (value) => value === proxied);
    } finally {
      kinds.close();
    }
  });

  it('takes the sockets of listeners that came over LDS', async () => {
    await using epochs = await makeEpochs();
    const { scratch, port, adminPort } = epochs;
    // Without reuse_port nobody else could bind the address while the parent is there.
    const listener = answering('web', port, { enable_reuse_port: false });
    const resources = [resource.listener(listener)];
    moveIntoPlace(scratch, 'lds.json', { version: '1', resources });
    const config = {
      admin: { address: loopback(adminPort) },
      node: { id: 'n', cluster: 'c' },
      dynamic_resources: { lds_config: fileSource(scratch.file('lds.json')) },
    };
    const first = await epochs.start(0, { bootstrap: config });
    const load = startLoad({ port, restMs: 24 });
    const second = await epochs.start(1, { bootstrap: config });
    assert.deepEqual(await first.exited(), { code: 0, signal: null });
    assert.deepEqual((await load.stop()).failures, []);
    assert.equal(await second.stat('listener_manager.lds.update_rejected'), 0);
    assert.equal((await fetchOnce({ port, path: '/' })).status, 200);
  });

  it('follows listeners that were renamed, moved, added and removed', async () => {
    await using epochs = await makeEpochs();
    const { port: stays, adminPort } = epochs;
    const [left, came] = [await freePort(), await freePort()];
    const of = (...listeners: readonly object[]): { readonly bootstrap: object } => ({
      bootstrap: bootstrap({ listeners }, { admin: { address: loopback(adminPort) } }),
    });
    const first = await epochs.start(0, of(answering('a', stays), answering('b', left)));
    const load = startLoad({ port: stays, restMs: 24 });
    await epochs.start(1, of(answering('renamed', stays), answering('c', came)));
    assert.equal((await fetchOnce({ port: came, path: '/' })).status, 200);
    await waitUntil('the end of the listener that was removed', () =>
      fetchOnce({ port: left, path: '/' }).then(
        () => false,
        () => true,
      ),
    );
    await first.exited();
    assert.deepEqual((await load.stop()).failures, []);
  });
});

function answering(name: string, port: number, fields: object = {}): object {
  const ok = { status: 200, body: { inline_string: 'ok' } };
  return httpListener([{ match: { prefix: '/' }, direct_response: ok }], {
    name,
    listener: { address: loopback(port), ...fields },
  });
}
