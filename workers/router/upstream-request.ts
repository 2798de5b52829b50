/**
 * One try of a request at one host: waits for a connection, sends the request, hands the response to
 * the router. Owns what must be kept of the body until there is a connection, and the back-pressure
 * between the two connections; timeouts and what a failure means are the router's.
 */
import type { RequestEncoder, ResetReason } from '../http/codec.ts';
import type { HeaderMap } from '../http/header-map.ts';
import type { HttpPool, PoolClient, UpstreamConnectionFacts } from '../upstream/http-pool.ts';

/** What a try tells the router. */
export interface UpstreamRequestOwner {
  /** The request reached for its host, whether or not a connection came of it. */
  onHostTried(): void;
  onUpstreamConnected(connection: UpstreamConnectionFacts): void;
  onUpstream1xx(headers: HeaderMap): void;
  onUpstreamHeaders(headers: HeaderMap, endStream: boolean): void;
  onUpstreamData(data: Buffer, endStream: boolean): void;
  onUpstreamTrailers(trailers: HeaderMap): void;
  /** The try is over without a complete response. `detail` is the operating system's word. */
  onUpstreamReset(reason: ResetReason, detail: string): void;
  /** Back-pressure towards the client; counted. */
  pauseRequest(paused: boolean): void;
}

export class UpstreamRequest implements PoolClient {
  private readonly owner: UpstreamRequestOwner;
  private readonly pool: HttpPool;
  private readonly headers: HeaderMap;
  private readonly bufferLimitBytes: number;
  private encoder: RequestEncoder | undefined = undefined;
  connection: UpstreamConnectionFacts | undefined = undefined;
  /** Set once the whole request is known. */
  private sawEnd: boolean;
  private pendingBody: Buffer[] = [];
  private pendingBytes = 0;
  private pendingTrailers: HeaderMap | undefined = undefined;
  private isBodyPaused = false;
  private isWritePaused = false;
  private isOver = false;

  constructor(
    owner: UpstreamRequestOwner,
    pool: HttpPool,
    headers: HeaderMap,
    options: { readonly endStream: boolean; readonly bufferLimitBytes: number },
  ) {
    this.owner = owner;
    this.pool = pool;
    this.headers = headers;
    this.sawEnd = options.endStream;
    this.bufferLimitBytes = options.bufferLimitBytes;
  }

  start(): void {
    this.pool.newStream(this);
  }

  sendData(data: Buffer, endStream: boolean): void {
    if (this.isOver) return;
    if (endStream) this.sawEnd = true;
    if (this.encoder !== undefined) {
      this.encoder.encodeData(data, endStream);
      return;
    }
    if (data.length === 0) return;
    this.pendingBody.push(Buffer.from(data));
    this.pendingBytes += data.length;
    if (this.pendingBytes >= this.bufferLimitBytes && !this.isBodyPaused) {
      this.isBodyPaused = true;
      this.owner.pauseRequest(true);
    }
  }

  sendTrailers(trailers: HeaderMap): void {
    if (this.isOver) return;
    this.sawEnd = true;
    if (this.encoder === undefined) this.pendingTrailers = trailers;
    else this.encoder.encodeTrailers(trailers);
  }

  /** Gives the try up; the owner hears nothing more of it. */
  cancel(): void {
    if (this.isOver) return;
    this.end();
    if (this.encoder === undefined) this.pool.cancel(this);
    else this.encoder.resetStream();
  }

  pauseResponse(paused: boolean): void {
    if (!this.isOver) this.encoder?.pauseResponse(paused);
  }

  onPoolReady(encoder: RequestEncoder, connection: UpstreamConnectionFacts): void {
    this.encoder = encoder;
    this.connection = connection;
    this.owner.onHostTried();
    this.owner.onUpstreamConnected(connection);
    const { pendingBody, pendingTrailers } = this;
    const hasBody = pendingBody.length > 0;
    const isWhole = this.sawEnd && pendingTrailers === undefined;
    encoder.encodeHeaders(this.headers, isWhole && !hasBody);
    this.pendingBody = [];
    this.pendingBytes = 0;
    pendingBody.forEach((piece, position) => {
      encoder.encodeData(piece, isWhole && position === pendingBody.length - 1);
    });
    if (pendingTrailers !== undefined) encoder.encodeTrailers(pendingTrailers);
    if (this.isBodyPaused) {
      this.isBodyPaused = false;
      this.owner.pauseRequest(false);
    }
  }

  onPoolFailure(reason: ResetReason, detail: string, triedHost: boolean): void {
    if (triedHost) this.owner.onHostTried();
    this.onOver(reason, detail);
  }

  decode1xx(headers: HeaderMap): void {
    this.owner.onUpstream1xx(headers);
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    if (endStream) this.end();
    this.owner.onUpstreamHeaders(headers, endStream);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    if (endStream) this.end();
    this.owner.onUpstreamData(data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): void {
    this.end();
    this.owner.onUpstreamTrailers(trailers);
  }

  onReset(reason: ResetReason): void {
    this.onOver(reason, '');
  }

  onWriteBlocked(blocked: boolean): void {
    if (this.isOver || this.isWritePaused === blocked) return;
    this.isWritePaused = blocked;
    this.owner.pauseRequest(blocked);
  }

  private onOver(reason: ResetReason, detail: string): void {
    if (this.isOver) return;
    this.end();
    this.owner.onUpstreamReset(reason, detail);
  }

  private end(): void {
    this.isOver = true;
    this.pendingBody = [];
    if (this.isBodyPaused) this.owner.pauseRequest(false);
    if (this.isWritePaused) this.owner.pauseRequest(false);
    this.isBodyPaused = false;
    this.isWritePaused = false;
  }
}
