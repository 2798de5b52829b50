/**
 * One request to a service by HTTP whose whole response is waited for. The response is bounded:
 * a larger one is given up and fails. Ends with exactly one outcome, or with none after a cancel.
 */
import { CollectedBytes } from '../../shared/bytes/collected-bytes.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type {
  CallFailure,
  ServiceCallbacks,
  ServiceClient,
  ServiceRequest,
  ServiceStream,
} from './service-client.ts';

export interface HttpResponse {
  readonly headers: HeaderMap;
  readonly body: Buffer;
}

/** Who waits. One of the two is called, once. */
export interface HttpCallOwner {
  onResponse(response: HttpResponse): void;
  onFailure(failure: CallFailure): void;
  /** An exception ended the call. */
  onException(): void;
}

export interface HttpCallRequest extends Omit<ServiceRequest, 'endStream'> {
  readonly cluster: string;
  readonly body: Buffer | undefined;
  /** The limit of the response's body. */
  readonly responseBytesMax: number;
}

const NO_BODY = Buffer.alloc(0);

const UNKNOWN_CLUSTER: CallFailure = { status: 503, details: 'cluster_not_found', body: '' };
const RESPONSE_TOO_LARGE: CallFailure = {
  status: 503,
  details: 'response_payload_too_large',
  body: '',
};

export class HttpCall implements ServiceCallbacks {
  readonly #owner: HttpCallOwner;
  readonly #bytesMax: number;
  #stream: ServiceStream | undefined = undefined;
  #headers: HeaderMap | undefined = undefined;
  readonly #body = new CollectedBytes();
  #isOver = false;

  private constructor(owner: HttpCallOwner, bytesMax: number) {
    this.#owner = owner;
    this.#bytesMax = bytesMax;
  }

  /** The owner may be called before this returns. */
  static start(client: ServiceClient, request: HttpCallRequest, owner: HttpCallOwner): HttpCall {
    const { cluster, body, responseBytesMax, ...rest } = request;
    const call = new HttpCall(owner, responseBytesMax);
    const endStream = body === undefined || body.length === 0;
    const stream = client.send(cluster, { ...rest, endStream }, call);
    if (stream === undefined) {
      call.onFailure(UNKNOWN_CLUSTER);
      return call;
    }
    call.#stream = stream;
    if (call.#isOver) stream.cancel();
    else if (!endStream && body !== undefined) stream.sendData(body, true);
    return call;
  }

  /** The owner hears nothing more. */
  cancel(): void {
    this.#end();
  }

  onHeaders(headers: HeaderMap, endStream: boolean): void {
    this.#headers = headers;
    if (endStream) this.#complete();
  }

  onData(data: Buffer, endStream: boolean): void {
    const length = this.#body.length + data.length;
    if (length > this.#bytesMax) return this.onFailure(RESPONSE_TOO_LARGE);
    this.#body.addCopy(data);
    if (endStream) this.#complete();
  }

  onTrailers(): void {
    this.#complete();
  }

  onFailure(failure: CallFailure): void {
    if (this.#isOver) return;
    this.#end();
    this.#owner.onFailure(failure);
  }

  pauseRequest(): void {
    // The body is given at once, and is bounded where it comes from.
  }

  onException(): void {
    if (this.#isOver) return;
    this.#end();
    this.#owner.onException();
  }

  #complete(): void {
    const headers = this.#headers;
    if (this.#isOver || headers === undefined) return;
    const body = this.#body.length === 0 ? NO_BODY : this.#body.joined();
    this.#end();
    this.#owner.onResponse({ headers, body });
  }

  #end(): void {
    this.#isOver = true;
    this.#body.clear();
    this.#stream?.cancel();
    this.#stream = undefined;
  }
}
