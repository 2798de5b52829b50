/**
 * What this side ends while one read of a connection is dealt with. The peer learns of it only
 * afterwards, so until then its frames for such streams are judged as if they were open, and the
 * streams count to its limit, as in Envoy. Over TLS each record is a read of its own, but what has
 * come so far is one to the peer: there the turn ends with the loop's.
 */
import type { Wire } from '../../net/wire.ts';
import type { Http2Stream } from '../http2-stream.ts';
import type { OutboundCounts } from '../limits/outbound-counts.ts';

export class ReadTurn {
  readonly #wire: Pick<Wire, 'afterRecords'>;
  readonly #counts: OutboundCounts;
  #isReading = false;
  /** More records may follow: the wire says when there are none. */
  #awaitsRecords = false;
  /** Whose end was written, while the peer's has not come; each once, so as many as are open. */
  readonly #answered: Http2Stream[] = [];
  /** Streams that are over by what this side did while it read. */
  endedStreams = 0;

  constructor(wire: Pick<Wire, 'afterRecords'>, counts: OutboundCounts) {
    this.#wire = wire;
    this.#counts = counts;
  }

  begin(): void {
    this.#isReading = true;
    this.#counts.beginRead();
    this.#awaitsRecords ||= this.#wire.afterRecords?.(this) ?? false;
  }

  end(): void {
    this.#isReading = false;
    if (!this.#awaitsRecords) this.#endStreams();
    this.#counts.endRead();
  }

  /** All records that had come are read, or kept for later turns. */
  flush(): void {
    this.#awaitsRecords = false;
    if (this.#isReading) return;
    this.#counts.beginRead();
    this.#endStreams();
    this.#counts.endRead();
  }

  streamEnded(): void {
    if (this.#isReading) this.endedStreams++;
  }

  /** This side's end of the stream was written: its owner hears of that now or at the end. */
  localEnded(stream: Http2Stream): void {
    if (this.#isReading) this.#answered.push(stream);
    else stream.user.onLocalEnd?.();
  }

  #endStreams(): void {
    this.endedStreams = 0;
    if (this.#answered.length === 0) return;
    for (const stream of this.#answered.splice(0)) {
      if (!stream.isClosed && !stream.isRemoteEnded) stream.user.onLocalEnd?.();
    }
  }
}
