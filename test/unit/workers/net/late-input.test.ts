/**
 * What one read brings is dealt with in portions: a peer's many small messages do not hold up the
 * loop. Counted, not timed.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServerHarness } from '../../../support/peers/http1.ts';
import { GET, headersFrame } from '../../../support/peers/http2-client.ts';
import { Http2Stats } from '../../../../workers/http2/codec-stats.ts';
import {
  CLIENT_PREFACE,
  pingFrame,
  resetFrame,
  SETTINGS_ACK,
  settingsFrame,
} from '../../../../workers/http2/frames.ts';
import { Http2Session } from '../../../../workers/http2/session.ts';
import type { SessionOptions, SessionUser } from '../../../../workers/http2/session-user.ts';
import type { StreamUser } from '../../../../workers/http2/http2-stream.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import type { Wire } from '../../../../workers/net/wire.ts';

/** Messages of one connection in one turn of the loop, and frames that are none. */
const MESSAGES_IN_TURN = 32;
const FRAMES_IN_TURN = 512;
const REQUEST = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

/** The later turns of a loop, taken one at a time. */
class LaterTurns {
  #step: (() => boolean) | undefined = undefined;

  readonly add = (step: () => boolean): void => {
    assert.equal(this.#step, undefined, 'one step at a time');
    this.#step = step;
  };

  /** What `seen` has counted, after the read and after each turn. */
  drain(seen: () => number): readonly number[] {
    const counted = [seen()];
    for (let step = this.#step; step !== undefined; step = this.#step) {
      if (step()) this.#step = undefined;
      counted.push(seen());
    }
    return counted;
  }
}

const options: SessionOptions = {
  isServer: true,
  settings: [],
  headerTableSize: 4096,
  maxConcurrentStreams: 10_000,
  streamWindow: 65_535,
  connectionWindow: 65_535,
  maxHeaderTextBytes: 65_536,
  usesHuffman: false,
  maxBlockBytes: 65_536,
  maxOutboundFrames: 10_000,
  maxOutboundControlFrames: 1000,
  streamBufferBytes: 65_536,
  maxMetadataBytes: 0,
  maxConsecutiveEmptyFrames: 1,
  maxPriorityFramesPerStream: 100,
  maxWindowUpdatesPerDataFrame: 10,
};
const STREAM: StreamUser = {
  onData: () => undefined,
  onHeaders: () => undefined,
  onReset: () => undefined,
  onWriteBlocked: () => undefined,
  onClosed: () => undefined,
};

class Peer {
  readonly turns = new LaterTurns();
  readonly ids: number[] = [];
  written = '';
  flood: string | undefined = undefined;
  readonly session: Http2Session;

  constructor(changes: Partial<SessionOptions> = {}) {
    const wire: Pick<Wire, 'writeText' | 'readLater'> = {
      writeText: (text) => void (this.written += text),
      readLater: this.turns.add,
    };
    const user: Partial<SessionUser> = {
      stats: new Http2Stats({} as never, ''),
      onBlockBegin: () => ({ onField: () => undefined }),
      openStream: (id, wireBytes) => {
        this.ids.push(id);
        return this.session.accept(id, STREAM, wireBytes);
      },
      onSettings: () => undefined,
      onPingAck: () => undefined,
      onResetReceived: () => undefined,
      onFlood: (flood) => void (this.flood = flood),
    };
    this.session = new Http2Session(wire as Wire, user as SessionUser, { ...options, ...changes });
    this.session.start();
  }

  feed(text: string): this {
    const input = Buffer.from(text, 'latin1');
    this.session.onData(input, 0, input.length);
    // What a read brought is gone with the next one.
    input.fill(0);
    return this;
  }
}

const BEGIN = CLIENT_PREFACE + settingsFrame([]) + SETTINGS_ACK;
const idOf = (at: number): number => 1 + 2 * at;
const request = (at: number): string => headersFrame(idOf(at), GET);

function repeat(count: number, make: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => make(at)).join('');
}

function steps(counted: readonly number[]): readonly number[] {
  return counted.map((count, at) => count - (counted[at - 1] ?? 0));
}

describe('requests that come in one read', () => {
  it('are opened a few in each turn of the loop, in HTTP/2', () => {
    const peer = new Peer().feed(BEGIN);
    peer.feed(repeat(1000, (at) => request(at) + resetFrame(idOf(at), 8)));
    const counted = peer.turns.drain(() => peer.ids.length);
    assert.ok(
      steps(counted).every((step) => step <= MESSAGES_IN_TURN),
      String(steps(counted)),
    );
    assert.deepEqual(
      peer.ids,
      Array.from({ length: 1000 }, (_, at) => idOf(at)),
    );
    assert.equal(peer.session.table.open.size, 0);
  });

  it('cost by the bytes of their fields, in HTTP/2', () => {
    const large: (typeof GET)[number] = ['x-large', 'x'.repeat(6000)];
    const peer = new Peer()
      .feed(BEGIN)
      .feed(repeat(10, (at) => headersFrame(idOf(at), [...GET, large])));
    const counted = peer.turns.drain(() => peer.ids.length);
    assert.ok(
      steps(counted).every((step) => step <= 5),
      String(steps(counted)),
    );
    assert.equal(peer.ids.length, 10);
  });

  it('are answered a few in each turn of the loop, in HTTP/1', () => {
    const harness = new ServerHarness((encoder) => {
      const headers = new HeaderMap();
      headers.status = 204;
      encoder.encodeHeaders(headers, true);
    });
    const turns = new LaterTurns();
    Object.assign(harness.wire, { readLater: turns.add });
    harness.feed(REQUEST.repeat(1000));
    const counted = turns.drain(() => harness.messages.length);
    assert.equal(counted[0], MESSAGES_IN_TURN);
    assert.ok(steps(counted).every((step) => step <= MESSAGES_IN_TURN));
    assert.equal(harness.messages.length, 1000);
    assert.ok(harness.messages.every(({ start }) => start === 'GET h /'));
  });

  it('stay in their order when more comes before they are dealt with', () => {
    const harness = new ServerHarness((encoder) => {
      const headers = new HeaderMap();
      headers.status = 204;
      encoder.encodeHeaders(headers, true);
    });
    const turns = new LaterTurns();
    Object.assign(harness.wire, { readLater: turns.add });
    harness.feed(
      repeat(50, (at) => REQUEST.replace('/', `/${at}`)) + REQUEST.slice(0, 9),
      REQUEST.slice(9) + REQUEST,
    );
    turns.drain(() => 0);
    const paths = harness.messages.map(({ start }) => start.split(' ')[2]);
    assert.deepEqual(paths, [...Array.from({ length: 50 }, (_, at) => `/${at}`), '/', '/']);
  });
});

describe('frames of HTTP/2 that come in one read', () => {
  it('are hundreds in a turn of the loop where they are no messages', () => {
    const peer = new Peer({ maxOutboundControlFrames: 10_000 }).feed(BEGIN);
    const before = peer.written.length;
    peer.feed(pingFrame('12345678', false).repeat(2000));
    const counted = peer.turns.drain(() => (peer.written.length - before) / 17);
    assert.ok(steps(counted).every((step) => step <= FRAMES_IN_TURN));
    assert.equal(counted.at(-1), 2000);
    assert.equal(counted.length, 4);
  });

  it('are judged together, in however many turns', () => {
    const peer = new Peer().feed(BEGIN).feed(pingFrame('12345678', false).repeat(1100));
    assert.equal(peer.flood, undefined);
    peer.turns.drain(() => 0);
    assert.equal(peer.flood, 'outbound_control');
  });

  it('are dropped with the connection', () => {
    const peer = new Peer().feed(BEGIN).feed(repeat(1000, request));
    const { length } = peer.ids;
    peer.session.onTransportClosed(() => undefined);
    peer.turns.drain(() => 0);
    assert.equal(peer.ids.length, length);
  });

  it('of a host take turns as those of a client do', () => {
    const peer = new Peer({ isServer: false }).feed(settingsFrame([]) + SETTINGS_ACK);
    const before = peer.written.length;
    peer.feed(pingFrame('12345678', false).repeat(900));
    const counted = peer.turns.drain(() => (peer.written.length - before) / 17);
    assert.ok(steps(counted).every((step) => step <= FRAMES_IN_TURN));
    assert.equal(counted.at(-1), 900);
  });
});
