/**
 * Which protocol a client's connection speaks: as configured, as agreed by ALPN, or as its first
 * bytes say. The one place of the data path that knows all protocols.
 */
import type { HttpConnectionManager } from '../../shared/resources/listener.ts';
import { http1ServerCodecs } from '../http1/server-codec-factory.ts';
import { HTTP1_TRAITS } from '../http1/traits.ts';
import { CLIENT_PREFACE } from '../http2/frames.ts';
import { type Http2CodecContext, http2ServerCodecs } from '../http2/server-codec-factory.ts';
import { HTTP2_TRAITS } from '../http2/traits.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { Wire } from '../net/wire.ts';
import type { ServerCodec, ServerCodecFactory, ServerCodecOwner } from '../stream/codec.ts';
import type { ProtocolTraits } from '../stream/protocol-traits.ts';
import type { Protocol } from '../stream/stream-info.ts';

const ALPN_HTTP2 = 'h2';
/** As much of the preface as decides: what Envoy looks for. */
const BEGINNING = CLIENT_PREFACE.slice(0, 'PRI * HTTP/2'.length);

export interface ServerCodecs {
  readonly make: ServerCodecFactory;
  release(): void;
}

export function serverCodecs(
  config: HttpConnectionManager,
  context: Http2CodecContext,
): ServerCodecs {
  const http1 = http1ServerCodecs(config);
  if (config.codec === 'HTTP1') return { make: http1, release: () => undefined };
  const ofHttp2 = http2ServerCodecs(config, context);
  if (config.codec === 'HTTP2') return ofHttp2;
  const http2 = ofHttp2.make;
  const make: ServerCodecFactory = (wire, owner, info) =>
    new UndecidedCodec({ wire, owner, info, http1, http2 });
  return { make, release: () => ofHttp2.release() };
}

export function traitsOf(protocol: Protocol | undefined): ProtocolTraits {
  return protocol === 'HTTP/2' ? HTTP2_TRAITS : HTTP1_TRAITS;
}

interface Choice {
  readonly wire: Wire;
  readonly owner: ServerCodecOwner;
  readonly info: ConnectionInfo;
  readonly http1: ServerCodecFactory;
  readonly http2: ServerCodecFactory;
}

/** Stands for the codec until the first bytes have come; then another takes its place for good. */
class UndecidedCodec implements ServerCodec {
  readonly protocol = undefined;
  readonly traits = undefined;
  readonly openStreams = 0;
  readonly #choice: Choice;
  #isOver = false;

  constructor(choice: Choice) {
    this.#choice = choice;
  }

  onData(input: Buffer, start: number, end: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { wire, owner, info, http1, http2 } = this.#choice;
    const make = this.#isHttp2(input, start, end) ? http2 : http1;
    owner.onCodecChosen(make(wire, owner, info), input, start, end);
  }

  /** As in Envoy the first read decides: a client that sends less of the preface is one of HTTP/1. */
  #isHttp2(input: Buffer, start: number, end: number): boolean {
    const alpn = this.#choice.info.tls?.alpn ?? '';
    if (alpn !== '') return alpn === ALPN_HTTP2;
    const length = Math.min(end - start, BEGINNING.length);
    return input.toString('latin1', start, start + length) === BEGINNING;
  }

  onTransportClosed(): void {
    this.#isOver = true;
  }

  onWriteBlocked(): void {
    // Nothing was written.
  }

  startDrain(): void {
    // Nothing was asked.
  }

  announceClose(): void {
    // As above.
  }

  abort(): void {
    this.#isOver = true;
    this.#choice.owner.onCodecFinished('now');
  }

  stop(): void {
    this.#isOver = true;
  }
}
