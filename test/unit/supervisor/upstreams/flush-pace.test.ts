import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock, type Clock } from '../../../../shared/process/clock.ts';
import type {
  ClusterHostsResource,
  HostResource,
} from '../../../../shared/resources/clusters/cluster.ts';
import { FlushPace } from '../../../../supervisor/upstreams/flush-pace.ts';
import { SentHosts } from '../../../../supervisor/upstreams/hosts/sent-hosts.ts';

/** A pace whose flushes are noted with their times; `pass` lets time go by. */
function paced(): {
  readonly pace: FlushPace;
  readonly flushedMs: number[];
  readonly pass: (ms: number) => void;
} {
  let nowMs = 1000;
  const due = new Map<() => void, number>();
  const after: Clock['after'] = (delayMs, callback) => {
    due.set(callback, nowMs + delayMs);
    return { cancel: () => void due.delete(callback) };
  };
  const flushedMs: number[] = [];
  const clock = { ...systemClock, after, monotonicMs: () => nowMs };
  const pace = new FlushPace(clock, () => {
    flushedMs.push(nowMs);
    pace.flushed();
  });
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const [callback, atMs] of due) {
      if (atMs > nowMs) continue;
      due.delete(callback);
      callback();
    }
  };
  return { pace, flushedMs, pass };
}

describe('what changed', () => {
  it('goes to the workers at the end of the turn, all of it at once', async () => {
    const { pace, flushedMs } = paced();
    pace.paced();
    pace.soon();
    assert.deepEqual(flushedMs, []);
    await nextTurn();
    assert.deepEqual(flushedMs, [1000]);
  });

  it('goes at a steady pace in a stream of changes, the last change as well', async () => {
    const { pace, flushedMs, pass } = paced();
    for (let change = 0; change < 1000; change += 1) {
      pace.paced();
      await nextTurn();
      pass(1);
    }
    pass(25);
    const inStream = flushedMs.slice(16);
    assert.ok(inStream.length >= 38 && inStream.length <= 40, String(inStream.length));
    assert.ok(inStream.every((atMs, at) => at === 0 || atMs - (inStream[at - 1] ?? 0) >= 25));
    assert.ok((flushedMs.at(-1) ?? 0) >= 1999);
  });

  it('does not wait behind the pace when it must not wait', async () => {
    const { pace, flushedMs, pass } = paced();
    for (let change = 0; change < 40; change += 1) {
      pace.paced();
      await nextTurn();
    }
    const before = flushedMs.length;
    pace.soon();
    await nextTurn();
    assert.equal(flushedMs.length, before + 1);
    pass(100);
    assert.equal(flushedMs.length, before + 1, 'what waited went with it');
  });
});

describe('a set of hosts that went and came back', () => {
  const host = (id: string): HostResource => ({ id }) as unknown as HostResource;
  const first = host('a:1');
  const version = (hosts: readonly HostResource[]): { hosts: ClusterHostsResource } => ({
    hosts: { cluster: 'c', hosts, overprovisioningFactor: 140 },
  });

  it('is known, unless a host or anything else of it is another', () => {
    const sent = new SentHosts();
    const live = version([first]);
    assert.equal(sent.isKnown(live), false);
    sent.updatesOf(live);
    live.hosts = { ...live.hosts, hosts: [first] };
    assert.equal(sent.isKnown(live), true);
    live.hosts = { ...live.hosts, hosts: [host('a:1')] };
    assert.equal(sent.isKnown(live), false);
    live.hosts = { ...live.hosts, hosts: [first], overprovisioningFactor: 100 };
    assert.equal(sent.isKnown(live), false);
  });

  it('is not known after a word about one host, or when a worker starts', () => {
    const sent = new SentHosts();
    const live = version([first]);
    sent.updatesOf(live);
    sent.note(live, 0, first);
    assert.equal(sent.isKnown(live), false);
    sent.updatesOf(live);
    sent.forget(live);
    assert.equal(sent.isKnown(live), false);
  });
});
