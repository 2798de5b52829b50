import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import * as grpc from '@grpc/grpc-js';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { GrpcConnections } from '../../../../supervisor/services/grpc-connections.ts';
import { watchedCredentials } from '../../../../supervisor/services/watched-credentials.ts';
import { startControlPlane, typeUrlOf } from '../../../support/peers/control-plane.ts';
import { resource } from '../../../support/peers/discovery-files.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { muxTo, subscriptionTo } from '../../../support/peers/mux.ts';
import { waitUntil } from '../../../support/wait.ts';

describe('streams to one control plane', () => {
  it('share a connection, also when one is opened again', async () => {
    await using control = await startControlPlane();
    const statStore = new StatStore();
    const base = statStore.defineBlock(CLUSTER, 'cluster.control.');
    const connections = new GrpcConnections();
    const muxes = [1, 2, 3].map(() => muxTo(control.port, { statStore, connections }));
    for (const mux of muxes) mux.add(subscriptionTo('cluster', []));
    await waitUntil('three streams', () => control.requests.length >= 3);
    control.drop();
    await waitUntil('three more', () => control.requests.length >= 6);
    assert.equal(statStore.valueOf(base + CLUSTER.index.upstream_cx_total), 1);
    assert.equal(statStore.valueOf(base + CLUSTER.index.upstream_rq_total), 6);
    assert.equal(statStore.valueOf(base + CLUSTER.index.upstream_rq_active), 3);
    for (const mux of muxes) mux.close();
    assert.equal(statStore.valueOf(base + CLUSTER.index.upstream_rq_active), 0);
    connections.close();
  });

  it('leave a host that no longer answers to pings', async () => {
    await using control = await startControlPlane();
    const forwarded: { readonly client: Socket; readonly host: Socket }[] = [];
    const between = createServer((client) => {
      const host = connect(control.port, '127.0.0.1');
      for (const socket of [client, host]) socket.on('error', () => undefined);
      client.pipe(host).pipe(client);
      forwarded.push({ client, host });
    });
    between.listen(0, '127.0.0.1');
    await once(between, 'listening');
    const connections = new GrpcConnections();
    const { port } = between.address() as AddressInfo;
    const keepAlive = { intervalMs: 100, timeoutMs: 100 };
    const mux = muxTo(port, { connections, keepAlive });
    mux.add(subscriptionTo('cluster', []));
    await waitUntil('a stream', () => control.requests.length > 0);
    for (const { client, host } of forwarded) client.unpipe(host);
    const before = control.requests.length;
    await waitUntil('another stream', () => control.requests.length > before);
    mux.close();
    connections.close();
    for (const { client, host } of forwarded) for (const each of [client, host]) each.destroy();
    between.close();
  });

  it('are opened again after what is no message', async () => {
    await using control = await startControlPlane();
    const statStore = new StatStore();
    const connections = new GrpcConnections();
    const mux = muxTo(control.port, { statStore, connections });
    mux.add(subscriptionTo('cluster', [], { statStore }));
    await waitUntil('a stream', () => control.requests.length === 1);
    control.sendBytes(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    await waitUntil('another stream', () => control.requests.length === 2);
    const counted = (name: string): number => statStore.valueOf(statStore.defineCounter(name));
    assert.equal(counted('cluster.update_failure'), 1);
    assert.equal(counted('cluster.update_rejected'), 0);
    mux.close();
    connections.close();
  });

  it('give no version to what goes by the end of its time', async () => {
    await using control = await startControlPlane();
    const connections = new GrpcConnections();
    const clock = new ManualClock();
    const mux = muxTo(control.port, { connections, clock });
    const versions: string[] = [];
    mux.add(
      subscriptionTo('cluster', [], {
        clock,
        update: ({ versionInfo, removed }) => {
          versions.push(`${versionInfo} ${JSON.stringify(removed)}`);
          return Promise.resolve(undefined);
        },
      }),
    );
    await waitUntil('a stream', () => control.requests.length === 1);
    const cluster = resource.cluster({ name: 'a', type: 'STATIC' });
    const wrapped = {
      '@type': 'type.googleapis.com/envoy.service.discovery.v3.Resource',
      name: 'a',
      resource: cluster,
      ttl: '1s',
    };
    const type = { type_url: typeUrlOf('cluster.v3.Cluster') };
    control.sendRaw({ ...type, version_info: '1', resources: [wrapped] });
    await waitUntil('an answer', () => control.requests.length === 2);
    clock.pass(1000);
    await waitUntil('the end', () => versions.length === 2);
    assert.deepEqual(versions, ['1 "rest"', ' ["a"]']);
    mux.close();
    connections.close();
  });
});

describe('a connection of a client that was closed', () => {
  it('is not made', async () => {
    const begun: string[] = [];
    const credentials = watchedCredentials(grpc, grpc.credentials.createInsecure(), {
      connecting: () => begun.push('connecting'),
      connected: () => begun.push('connected'),
    });
    const connector = credentials._createSecureConnector({ path: 'host' }, {});
    await connector.waitForReady();
    connector.destroy();
    await assert.rejects(connector.waitForReady(), /nobody wants this connection/);
    assert.deepEqual(begun, ['connecting']);
  });
});
