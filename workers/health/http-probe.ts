/** Asks a host over HTTP/1 with the codec of ordinary requests, on a connection of its own. */
import type { Socket } from 'node:net';
import type { HttpProbe as HttpProbeResource } from '../../shared/resources/health-check.ts';
import type { ResponseDecoder } from '../http/codec.ts';
import { HeaderMap } from '../http/header-map.ts';
import { Http1ClientCodec, type Http1ClientOwner } from '../http/http1/client-codec.ts';
import type { Wire } from '../net/transport.ts';
import type { Flushable } from '../worker-loop.ts';
import { judgeHttp, USER_AGENT } from './judge-http.ts';
import type { Probe, ProbeOutcome, ProbeTarget } from './probe.ts';

const LIMITS = {
  maxHeaderBytes: 60 * 1024,
  maxHeaderCount: 100,
  enableTrailers: false,
  allowChunkedLength: false,
  headerCase: 'lower',
} as const;

export class HttpProbe implements Probe {
  readonly #resource: HttpProbeResource;
  readonly #target: ProbeTarget;
  readonly #reuse: boolean;
  #connection: ProbeConnection | undefined;

  constructor(resource: HttpProbeResource, target: ProbeTarget, reuse: boolean) {
    this.#resource = resource;
    this.#target = target;
    this.#reuse = reuse;
  }

  run(done: (outcome: ProbeOutcome) => void): void {
    if (this.#connection?.isUsable !== true) this.#connection = new ProbeConnection(this.#target);
    const connection = this.#connection;
    connection.exchange(this.#request(), (headers) => {
      if (!this.#reuse) connection.close();
      done(this.#judge(headers));
    });
  }

  cancel(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  #request(): HeaderMap {
    const { authority, path, method, headers, removedHeaders } = this.#resource;
    const request = new HeaderMap();
    request.method = method;
    request.path = path;
    request.authority = authority ?? this.#target.authority;
    if (!removedHeaders.includes('user-agent')) request.add('user-agent', USER_AGENT);
    for (const [name, value] of headers) {
      if (name === 'host' || name === ':authority') request.authority = value;
      else if (!removedHeaders.includes(name)) request.add(name, value);
    }
    return request;
  }

  #judge(headers: HeaderMap | undefined): ProbeOutcome {
    if (headers === undefined) return { kind: 'unreachable', isTimeout: false };
    return judgeHttp(this.#resource, headers);
  }
}

/** One connection: requests one after the other; `answered` gets undefined when it broke instead. */
class ProbeConnection implements Wire, Http1ClientOwner, ResponseDecoder {
  readonly #socket: Socket;
  readonly #codec: Http1ClientCodec;
  #answered: ((headers: HeaderMap | undefined) => void) | undefined;
  #headers: HeaderMap | undefined;
  #isReady = false;
  #waiting: HeaderMap | undefined;
  isUsable = true;

  constructor(target: ProbeTarget) {
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

  exchange(request: HeaderMap, answered: (headers: HeaderMap | undefined) => void): void {
    this.#answered = answered;
    this.#headers = undefined;
    this.#waiting = request;
    if (this.#isReady) this.#sendWaiting();
  }

  #sendWaiting(): void {
    const request = this.#waiting;
    this.#waiting = undefined;
    if (request !== undefined) this.#codec.newStream(this).encodeHeaders(request, true);
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

  decodeData(): void {
    // Only the head of the answer counts.
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
    this.#finish(this.#headers);
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
    this.#finish(undefined);
  }

  #retire(): void {
    this.isUsable = false;
    this.#socket.destroy();
  }

  #finish(headers: HeaderMap | undefined): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(headers);
  }
}
