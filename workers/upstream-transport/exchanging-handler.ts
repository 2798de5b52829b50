/** Exchanges metadata with a host before the bytes of its connection reach whom they are for. */
import { MetadataExchangeOf, type MetadataExchanges } from '../net/mesh/metadata-exchange.ts';
import { systemError, UV_ECONNABORTED } from '../net/connection-errors.ts';
import type { TransportHandler } from '../net/byte-stream.ts';
import type { UpstreamTransport } from './upstream-transport.ts';

export class ExchangingHandler implements TransportHandler {
  readonly #shared: MetadataExchanges;
  readonly #inner: TransportHandler;
  #upstream: UpstreamTransport | undefined = undefined;
  #exchange: MetadataExchangeOf | undefined = undefined;

  constructor(shared: MetadataExchanges, inner: TransportHandler) {
    this.#shared = shared;
    this.#inner = inner;
  }

  /** Told of the transport as soon as there is one. */
  over(upstream: UpstreamTransport): UpstreamTransport {
    this.#upstream = upstream;
    return upstream;
  }

  onConnect(): void {
    const upstream = this.#upstream;
    if (upstream !== undefined) {
      const write = (message: Buffer): void => upstream.transport.writeData(message);
      const { tls } = upstream;
      // No log and no filter here asks which workload the host is.
      this.#exchange = new MetadataExchangeOf(this.#shared, tls?.alpn, write, () => undefined);
    }
    this.#inner.onConnect();
  }

  onData(input: Buffer, start: number, end: number): void {
    const exchange = this.#exchange;
    if (exchange === undefined) {
      this.#inner.onData(input, start, end);
      return;
    }
    const rest = exchange.take(input.subarray(start, end));
    if (rest === undefined) return;
    this.#exchange = undefined;
    if (rest.length > 0) this.#inner.onData(rest, 0, rest.length);
  }

  onRemoteEnd(): void {
    this.#deliverKept();
    if (this.#upstream?.transport.closed !== true) this.#inner.onRemoteEnd?.();
  }

  onRemoteClose(error: NodeJS.ErrnoException | undefined): void {
    this.#deliverKept();
    this.#inner.onRemoteClose(error);
  }

  /** What the host began with was no message. */
  #deliverKept(): void {
    const rest = this.#exchange?.takeLast();
    this.#exchange = undefined;
    if (rest !== undefined && rest.length > 0) this.#inner.onData(rest, 0, rest.length);
  }

  onWriteBlocked(blocked: boolean): void {
    this.#inner.onWriteBlocked(blocked);
  }

  onException(): void {
    if (this.#inner.onException !== undefined) return this.#inner.onException();
    if (this.#upstream?.transport.closed === true) return;
    this.#upstream?.transport.reset();
    this.#inner.onRemoteClose(systemError(UV_ECONNABORTED, 'read'));
  }
}
