/**
 * What this side ends while one read of a connection is dealt with. The peer learns of it only
 * afterwards, so until then its frames for such streams are judged as if they were open, and the
 * streams count to its limit, as in Envoy.
 */
import type { Http2Stream } from './http2-stream.ts';
import type { OutboundCounts } from './limits/outbound-counts.ts';

export class ReadTurn {
  readonly #counts: OutboundCounts;
  #isOpen = false;
  /** Whose end was written, while the peer's has not come; each once, so as many as are open. */
  readonly #answered: Http2Stream[] = [];
  /** Streams that are over by what this side did. */
  endedStreams = 0;

  constructor(counts: OutboundCounts) {
    this.#counts = counts;
  }

  begin(): void {
    this.#isOpen = true;
    this.#counts.beginRead();
    this.endedStreams = 0;
  }

  end(): void {
    this.#isOpen = false;
    this.endedStreams = 0;
    if (this.#answered.length > 0) {
      for (const stream of this.#answered.splice(0)) {
        if (!stream.isClosed && !stream.isRemoteEnded) stream.user.onLocalEnd?.();
      }
    }
    this.#counts.endRead();
  }

  streamEnded(): void {
    if (this.#isOpen) this.endedStreams++;
  }

  /** This side's end of the stream was written: whoever has it hears of that now or at the end. */
  localEnded(stream: Http2Stream): void {
    if (this.#isOpen) this.#answered.push(stream);
    else stream.user.onLocalEnd?.();
  }
}
