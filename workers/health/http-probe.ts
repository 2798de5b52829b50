/** Asks a host over HTTP/1 with the codec of ordinary requests, on a connection of its own. */
import type { Socket } from 'node:net';
import type { ResponseDecoder } from '../stream/codec.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { Http1ClientCodec, type Http1ClientOwner } from '../http1/client-codec.ts';
import type { Wire } from '../net/wire.ts';
import type { Flushable } from '../loop/worker-loop.ts';
import type { CheckRequest } from './check-requests.ts';
import type { HttpJudge } from './judge-http.ts';
import type { Probe, ProbeOutcome, ProbeTarget, RequestTarget } from './probe.ts';

const LIMITS = {
  maxHeaderBytes: 60 * 1024,
  maxHeaderCount: 100,
  enableTrailers: false,
  allowChunkedLength: false,
  headerCase: 'lower',
  isOwnRequest: true,
} as const;

export interface HttpProbeOptions {
  readonly target: RequestTarget;
  readonly reuse: boolean;
  readonly judge: HttpJudge;
}

/** What came back; the body as far as anybody looks at it. */
interface Answered {
  readonly headers: HeaderMap;
  readonly body: Buffer;
}

export class HttpProbe implements Probe {
  readonly #options: HttpProbeOptions;
  #connection: ProbeConnection | undefined;

  constructor(options: HttpProbeOptions) {
    this.#options = options;
  }

  run(done: (outcome: ProbeOutcome) => void): void {
    const { target, judge, reuse } = this.#options;
    if (this.#connection?.isUsable !== true) {
      this.#connection = new ProbeConnection(target, judge.bodyBytesMax);
    }
    const connection = this.#connection;
    connection.exchange(target.request(), (answered) => {
      if (!reuse) connection.close();
      done(this.#judge(answered));
    });
  }

  cancel(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  #judge(answered: Answered | undefined): ProbeOutcome {
    if (answered === undefined) return { kind: 'unreachable', isTimeout: false };
    const { headers, body } = answered;
    return this.#options.judge.judge({
      status: headers.status,
      header: (name) => headers.get(name),
      body,
    });
  }
}

/**
 * One connection: requests one after the other; `answered` gets undefined when it broke instead.
 */
class ProbeConnection implements Wire, Http1ClientOwner, ResponseDecoder {
  readonly #socket: Socket;
  readonly #codec: Http1ClientCodec;
  readonly #bodyBytesMax: number;
  #answered: ((answered: Answered | undefined) => void) | undefined;
  #headers: HeaderMap | undefined;
  #body: Buffer[] = [];
  #bodyBytes = 0;
  /** The answer is complete: where it ends with the connection, nothing else says so. */
  #isWhole = false;
  #isReady = false;
  #waiting: CheckRequest | undefined;
  isUsable = true;

  constructor(target: ProbeTarget, bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax;
    this.#codec = new Http1ClientCodec(this, this, LIMITS);
    this.#socket = target.open();
    this.#socket.on(target.readyEvent, () => {
      this.#isReady = true;
      this.#sendWaiting();
    });
    this.#socket.on('data', (data: Buffer) => this.#codec.onData(data, 0, data.length));
    this.#socket.on('error', () => this.#broke(false));
    this.#socket.on('end', () => this.#broke(true));
    this.#socket.on('close', () => this.#broke(false));
  }

  exchange(request: CheckRequest, answered: (answered: Answered | undefined) => void): void {
    this.#answered = answered;
    this.#headers = undefined;
    this.#isWhole = false;
    this.#body = [];
    this.#bodyBytes = 0;
    this.#waiting = request;
    if (this.#isReady) this.#sendWaiting();
  }

  #sendWaiting(): void {
    const request = this.#waiting;
    this.#waiting = undefined;
    if (request === undefined) return;
    const { headers, body } = request;
    const stream = this.#codec.newStream(this);
    if (stream.encodeHeaders(headers, body.length === 0) !== undefined) this.#finish(undefined);
    else if (body.length > 0) stream.encodeData(body, true);
  }

  close(): void {
    this.isUsable = false;
    this.#answered = undefined;
    this.#socket.destroy();
  }

  decode1xx(): void {
    // The answer itself follows.
  }

  decodeHeaders(headers: HeaderMap): void {
    this.#headers = headers;
  }

  decodeData(data: Buffer, endStream: boolean): void {
    this.#isWhole = endStream;
    const rest = this.#bodyBytesMax - this.#bodyBytes;
    if (rest <= 0) return;
    this.#body.push(Buffer.from(data.subarray(0, rest)));
    this.#bodyBytes += data.length;
  }

  decodeTrailers(): void {
    // Only the head of the answer counts.
  }

  onReset(): void {
    this.#finish(undefined);
  }

  onWriteBlocked(): void {
    // A request without a body is one write.
  }

  onExchangeDone(reusable: boolean): void {
    if (!reusable) this.#retire();
    this.#finish(this.#answer());
  }

  onExchangeReset(): void {
    this.#retire();
  }

  onProtocolError(): void {
    this.#retire();
    this.#finish(undefined);
  }

  onCloseAnnounced(): void {
    this.isUsable = false;
  }

  writeText(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  writeData(data: Buffer): void {
    this.#socket.write(Buffer.from(data));
  }

  pauseReading(paused: boolean): void {
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  defer(task: Flushable): void {
    queueMicrotask(() => task.flush());
  }

  /** A body that ends with the connection ends here; anything else is reset by the codec. */
  #broke(isOrderly: boolean): void {
    if (!this.isUsable && this.#answered === undefined) return;
    this.isUsable = false;
    this.#codec.onTransportClosed('connection_termination', isOrderly);
    this.#socket.destroy();
    this.#finish(this.#isWhole ? this.#answer() : undefined);
  }

  #answer(): Answered | undefined {
    return this.#headers && { headers: this.#headers, body: Buffer.concat(this.#body) };
  }

  #retire(): void {
    this.isUsable = false;
    this.#socket.destroy();
  }

  #finish(what: Answered | undefined): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(what);
  }
}
