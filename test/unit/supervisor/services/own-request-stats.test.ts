import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import {
  OwnRequestStats,
  type OwnRequest,
} from '../../../../supervisor/services/own-request-stats.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

type Name = keyof typeof CLUSTER.index;

interface Counted {
  readonly stats: OwnRequestStats;
  readonly valueOf: (name: Name) => number;
  /** Counters that appear when they are first used. */
  readonly counterOf: (name: string) => number;
}

function counted(): Counted {
  const store = new StatStore();
  const base = store.defineBlock(CLUSTER, 'cluster.c.');
  return {
    stats: new OwnRequestStats(store, new ManualClock(), 'c'),
    valueOf: (name) => store.valueOf(base + CLUSTER.index[name]),
    counterOf: (name) => store.valueOf(store.defineCounter(name)),
  };
}

function fakeSocket(): Socket {
  const fields = { bytesRead: 0, bytesWritten: 0 };
  return Object.assign(new EventEmitter(), fields) as unknown as Socket;
}

const table: readonly {
  readonly what: string;
  readonly happens: (request: OwnRequest) => void;
  readonly codes: readonly string[];
  readonly others: Partial<Record<Name, number>>;
}[] = [
  {
    what: 'is answered',
    happens: (request) => {
      request.sent();
      request.answered(304);
      request.ended();
    },
    codes: ['304', '3xx'],
    others: { upstream_rq_total: 1, upstream_rq_timeout: 0, upstream_rq_tx_reset: 0 },
  },
  {
    what: 'gets no connection',
    happens: (request) => request.failed('connection'),
    codes: ['503', '5xx'],
    others: { upstream_rq_total: 0, upstream_rq_pending_failure_eject: 1 },
  },
  {
    what: 'is answered too late',
    happens: (request) => {
      request.sent();
      request.failed('timeout');
    },
    codes: ['504', '5xx'],
    others: { upstream_rq_total: 1, upstream_rq_timeout: 1, upstream_rq_pending_failure_eject: 0 },
  },
  {
    what: 'is a call that the other side ends',
    happens: (request) => {
      request.sent();
      request.answered(200);
      request.reset();
    },
    codes: ['200', '2xx'],
    others: { upstream_rq_total: 1, upstream_rq_tx_reset: 1 },
  },
  {
    what: 'is a call whose connection breaks',
    happens: (request) => {
      request.sent();
      request.answered(200);
      request.failed('connection');
    },
    codes: ['200', '2xx'],
    others: { upstream_rq_pending_failure_eject: 1, upstream_rq_tx_reset: 0 },
  },
];

describe('a request of the server itself', () => {
  for (const { what, happens, codes, others } of table) {
    it(`is counted as the cluster's and as one from inside when it ${what}`, () => {
      const { stats, valueOf, counterOf } = counted();
      happens(stats.request());
      for (const name of [...codes, 'completed']) {
        for (const prefix of ['cluster.c.', 'cluster.c.internal.']) {
          assert.equal(counterOf(`${prefix}upstream_rq_${name}`), 1, prefix + name);
        }
      }
      for (const [name, value] of Object.entries(others)) {
        assert.equal(valueOf(name as Name), value, name);
      }
      assert.equal(valueOf('upstream_rq_active'), 0);
    });
  }

  it('is under way from the moment that it has a connection', () => {
    const { stats, valueOf } = counted();
    const request = stats.request();
    assert.equal(valueOf('upstream_rq_active'), 0);
    request.sent();
    request.sent();
    assert.equal(valueOf('upstream_rq_active'), 1);
    assert.equal(valueOf('upstream_rq_total'), 1);
  });
});

describe('a connection of the server itself', () => {
  it('counts its bytes once, and itself while it is open', () => {
    const { stats, valueOf } = counted();
    const socket = fakeSocket();
    stats.connection('http/1.1').connected(socket, () => false);
    Object.assign(socket, { bytesRead: 30, bytesWritten: 20 });
    stats.countBytes();
    stats.countBytes();
    assert.equal(valueOf('upstream_cx_rx_bytes_total'), 30);
    assert.equal(valueOf('upstream_cx_tx_bytes_total'), 20);
    assert.equal(valueOf('upstream_cx_http1_total'), 1);
    assert.equal(valueOf('upstream_cx_active'), 1);
    socket.emit('close');
    assert.equal(valueOf('upstream_cx_active'), 0);
    assert.equal(valueOf('upstream_cx_destroy'), 1);
    assert.equal(valueOf('upstream_cx_connect_fail'), 0);
  });

  it('says which side closed it, and whether a request was on it', () => {
    const { stats, valueOf } = counted();
    const left = fakeSocket();
    stats.connection('h2').connected(left, () => true);
    left.emit('end');
    left.emit('close');
    assert.equal(valueOf('upstream_cx_destroy_remote_with_active_rq'), 1);
    const ended = fakeSocket();
    stats.connection('h2').connected(ended, () => false);
    ended.emit('close');
    assert.equal(valueOf('upstream_cx_destroy_local'), 1);
    assert.equal(valueOf('upstream_cx_destroy_with_active_rq'), 1);
    assert.equal(valueOf('upstream_cx_http2_total'), 2);
  });

  it('that never stood failed', () => {
    const { stats, valueOf } = counted();
    stats.connection('h2').failed();
    assert.equal(valueOf('upstream_cx_connect_fail'), 1);
    assert.equal(valueOf('upstream_cx_destroy_remote'), 1);
    assert.equal(valueOf('upstream_cx_active'), 0);
  });
});
