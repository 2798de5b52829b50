import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import { StatStore } from '../../../supervisor/stats/stat-store.ts';
import {
  OwnRequestStats,
  type Outcome,
} from '../../../supervisor/xds/transport/own-request-stats.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const table: readonly { readonly outcome: Outcome; readonly counted: readonly string[] }[] = [
  { outcome: { status: 200 }, counted: ['upstream_rq_200', 'upstream_rq_2xx'] },
  { outcome: { status: 304 }, counted: ['upstream_rq_304', 'upstream_rq_3xx'] },
  { outcome: { failed: 'timeout' }, counted: ['upstream_rq_504', 'upstream_rq_5xx'] },
  { outcome: { failed: 'connection' }, counted: ['upstream_rq_503', 'upstream_rq_5xx'] },
];

describe('a request of the server itself', () => {
  for (const { outcome, counted } of table) {
    it(`is counted as the cluster's and as one from inside: ${JSON.stringify(outcome)}`, () => {
      const store = new StatStore();
      const clock = new ManualClock();
      const stats = new OwnRequestStats(store, clock, 'c');
      stats.ended(outcome, clock.monotonicMs());
      for (const name of [...counted, 'upstream_rq_completed']) {
        for (const prefix of ['cluster.c.', 'cluster.c.internal.']) {
          assert.equal(store.valueOf(store.defineCounter(prefix + name)), 1, prefix + name);
        }
      }
    });
  }

  it('counts the bytes of its connection once, and that connection while it is open', () => {
    const store = new StatStore();
    const stats = new OwnRequestStats(store, new ManualClock(), 'c');
    const base = store.defineBlock(CLUSTER, 'cluster.c.');
    const valueOf = (name: keyof typeof CLUSTER.index): number =>
      store.valueOf(base + CLUSTER.index[name]);
    const socket = Object.assign(new EventEmitter(), { bytesRead: 0, bytesWritten: 0 });
    stats.connecting(socket as unknown as Socket, 'http/1.1');
    socket.emit('connect');
    Object.assign(socket, { bytesRead: 30, bytesWritten: 20 });
    stats.ended({ status: 200 }, 0);
    stats.ended({ status: 200 }, 0);
    assert.equal(valueOf('upstream_cx_rx_bytes_total'), 30);
    assert.equal(valueOf('upstream_cx_tx_bytes_total'), 20);
    assert.equal(valueOf('upstream_cx_http1_total'), 1);
    assert.equal(valueOf('upstream_cx_active'), 1);
    socket.emit('close');
    assert.equal(valueOf('upstream_cx_active'), 0);
    assert.equal(valueOf('upstream_cx_destroy'), 1);
    assert.equal(valueOf('upstream_cx_connect_fail'), 0);
  });
});
