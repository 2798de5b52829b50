/** A host is held up by its socket while nobody takes what it sends, and never for long. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_HTTP2_OPTIONS } from '../../../../shared/resources/http2-options.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { dataFrame, headersFrame } from '../../../support/peers/http2-client.ts';
import {
  Http2ClientCodec,
  type Http2ClientOwner,
} from '../../../../workers/http2/client/client-codec.ts';
import type { ClientStream } from '../../../../workers/http2/client/client-stream.ts';
import { HOST_PAUSE_MS } from '../../../../workers/http2/client/host-pause.ts';
import { Http2Stats } from '../../../../workers/http2/codec-stats.ts';
import {
  ErrorCode,
  Flag,
  resetFrame,
  SETTINGS_ACK,
  settingsFrame,
} from '../../../../workers/http2/frames.ts';
import { WorkerLoop } from '../../../../workers/loop/worker-loop.ts';
import type { Wire } from '../../../../workers/net/wire.ts';
import type { ResponseDecoder } from '../../../../workers/stream/codec.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';

const DECODER: ResponseDecoder = {
  decode1xx: () => undefined,
  decodeHeaders: () => undefined,
  decodeData: () => undefined,
  decodeTrailers: () => undefined,
  onReset: () => undefined,
  onWriteBlocked: () => undefined,
};
const OWNER: Http2ClientOwner = {
  onExchangeOver: () => undefined,
  onMaxStreams: () => undefined,
  onGoaway: () => undefined,
  onPingAck: () => undefined,
  onProtocolError: (details) => assert.fail(details),
  onStreamException: (error) => assert.fail(String(error)),
  onStreamReset: () => undefined,
};

class Host {
  readonly clock = new ManualClock();
  /** Counted as a transport counts them. */
  pauses = 0;
  readonly codec: Http2ClientCodec;
  #streams = 0;

  constructor() {
    const loop = new WorkerLoop(this.clock);
    const wire: Pick<Wire, 'writeText' | 'writeData' | 'pauseReading'> = {
      writeText: () => undefined,
      writeData: () => undefined,
      pauseReading: (paused) => void (this.pauses += paused ? 1 : -1),
    };
    this.codec = new Http2ClientCodec(wire as Wire, OWNER, new Http2Stats({} as never, ''), {
      options: DEFAULT_HTTP2_OPTIONS,
      maxHeaderBytes: 60 * 1024,
      maxHeaderCount: 100,
      streamBufferBytes: 1024,
      isOwnRequest: false,
      hostPause: loop.timers.list(HOST_PAUSE_MS),
    });
    this.codec.start();
    this.says(settingsFrame([]) + SETTINGS_ACK);
  }

  says(frames: string): void {
    const input = Buffer.from(frames, 'latin1');
    this.codec.onData(input, 0, input.length);
  }

  /** A request whose answer has begun. */
  ask(isWhole = true): ClientStream {
    const headers = new HeaderMap();
    headers.method = isWhole ? 'GET' : 'POST';
    headers.authority = 'h';
    headers.path = '/';
    headers.scheme = 'http';
    const stream = this.codec.newStream(DECODER);
    assert.equal(stream.encodeHeaders(headers, isWhole), undefined);
    this.says(headersFrame(1 + 2 * this.#streams++, [[':status', '200']], 0));
    return stream;
  }
}

describe('a host of HTTP/2 that sends what nobody takes', () => {
  it('is not read from while all its streams are paused', () => {
    const host = new Host();
    const [first, second] = [host.ask(), host.ask()];
    first.pauseResponse(true);
    assert.equal(host.pauses, 0);
    second.pauseResponse(true);
    assert.equal(host.pauses, 1);
    second.pauseResponse(true);
    assert.equal(host.pauses, 1);
    second.pauseResponse(false);
    assert.equal(host.pauses, 1);
    second.pauseResponse(false);
    assert.equal(host.pauses, 0);
  });

  it('is read on after a second, until a stream has gone on', () => {
    const host = new Host();
    const stream = host.ask();
    stream.pauseResponse(true);
    host.clock.pass(HOST_PAUSE_MS + 100);
    assert.equal(host.pauses, 0);
    stream.pauseResponse(true);
    assert.equal(host.pauses, 0);
    stream.pauseResponse(false);
    stream.pauseResponse(false);
    stream.pauseResponse(true);
    assert.equal(host.pauses, 1);
  });

  it('is read from while something else is expected of it', () => {
    const host = new Host();
    const upload = host.ask(false);
    upload.pauseResponse(true);
    // The room for the rest of the request is the host's to give.
    assert.equal(host.pauses, 0);
    upload.resetStream();
    const stream = host.ask();
    stream.pauseResponse(true);
    assert.equal(host.pauses, 1);
    host.ask();
    assert.equal(host.pauses, 0);
  });

  it('is read from when a PING is sent to it', () => {
    const host = new Host();
    host.ask().pauseResponse(true);
    assert.equal(host.pauses, 1);
    host.codec.ping('12345678');
    assert.equal(host.pauses, 0);
  });

  it('is read from again when the last paused stream ends', () => {
    const ends: readonly ((host: Host, stream: ClientStream) => void)[] = [
      (_, stream) => stream.resetStream(),
      (host) => host.says(resetFrame(1, ErrorCode.cancel)),
      (host) => host.says(dataFrame(1, 'x', Flag.endStream)),
    ];
    for (const end of ends) {
      const host = new Host();
      const stream = host.ask();
      stream.pauseResponse(true);
      end(host, stream);
      assert.equal(host.pauses, 0);
      stream.pauseResponse(false);
      assert.equal(host.pauses, 0);
    }
  });

  it('is not read from when the only stream that was taken has ended', () => {
    const host = new Host();
    host.ask().pauseResponse(true);
    const other = host.ask();
    assert.equal(host.pauses, 0);
    other.resetStream();
    assert.equal(host.pauses, 1);
    host.codec.onTransportClosed('connection_termination');
    assert.equal(host.pauses, 0);
  });
});
