import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { RestSource } from '../../../../supervisor/xds/subscriptions/rest-source.ts';
import { OwnRequestStats } from '../../../../supervisor/services/own-request-stats.ts';
import { RestClient } from '../../../../supervisor/services/rest-client.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { subscriptionTo } from '../../../support/peers/mux.ts';
import { waitUntil } from '../../../support/wait.ts';

describe('a question over REST', () => {
  it('is given up after its time, whether nothing came or a part of an answer, and asked again', async () => {
    const asked: ServerResponse[] = [];
    const server = createServer((_request, response) => void asked.push(response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const clock = new ManualClock();
    const statStore = new StatStore();
    const stats = new OwnRequestStats(statStore, clock, 'control');
    const address = { kind: 'ip', address: '127.0.0.1', port } as const;
    const client = new RestClient();
    const source = new RestSource({
      cluster: 'control',
      client,
      refreshMs: 100,
      timeoutMs: 1000,
      clusters: { pick: () => ({ address, protocol: 'http/1.1', stats }) },
      node: { id: 'me' },
      clock,
      subscription: subscriptionTo('cluster', [], { statStore, clock }),
      decoding: {
        unknownFields: 'ignore',
        scriptFolders: [],
        catalog: new ApiCatalog(),
        runtime: () => ({}),
        onWarnings: () => undefined,
      },
    });
    const failures = (): number =>
      statStore.valueOf(statStore.defineCounter('cluster.update_failure'));
    const lateAfter = async (count: number): Promise<void> => {
      clock.pass(1000);
      await waitUntil('a failure', () => failures() === count);
      clock.pass(200);
      await waitUntil('another question', () => asked.length === count + 1);
    };
    source.start();
    await waitUntil('a question', () => asked.length === 1);
    await lateAfter(1);
    asked[1]?.write('{');
    await lateAfter(2);
    source.close();
    client.close();
    server.close();
    assert.equal(statStore.valueOf(statStore.defineCounter('cluster.update_attempt')), 3);
  });
});
