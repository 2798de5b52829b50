/**
 * Sends what was collected (spans, log records) to a collector, by HTTP or gRPC: one request per
 * batch, whose answer says only whether it was taken.
 */
import type { CollectorService, Exporter } from '../../shared/resources/telemetry/collector.ts';
import type { GrpcService, GrpcServices } from '../services/grpc-services.ts';
import { NO_CONNECTION } from '../net/no-connection.ts';
import { HttpCall } from '../services/http-call.ts';
import type { ServiceClient } from '../services/service-client.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat } from '../substitution/compile-format.ts';

/** `refused`: the collector's answer, or that there is none; `failed`: nothing was sent. */
export type Outcome = 'accepted' | 'refused' | 'failed' | 'no_cluster';

export interface Collector {
  /** `done` is called once, maybe before this returns. */
  send(body: Buffer, done: (outcome: Outcome) => void): void;
  release(): void;
}

export interface CollectorEnv {
  readonly services: ServiceClient;
  readonly grpcServices: GrpcServices;
}

export interface HttpRequestKind {
  readonly contentType: string;
  /** Undefined: none is sent. */
  readonly userAgent?: string;
  /** The one status that says that the batch was taken; absent: every 2xx does. */
  readonly accepted?: number;
}

/** What formats of configured headers see: there is no request behind them. */
const NO_STREAM = new StreamInfo(NO_CONNECTION, 0, 0);

/** A collector's answer says nothing beside its status. */
const RESPONSE_BYTES_MAX = 64 * 1024;

/** The headers of one request, beside the configured ones. */
type ExtraHeaders = readonly (readonly [name: string, value: string])[];

export class HttpCollector implements Collector {
  readonly #service: CollectorService;
  readonly #kind: HttpRequestKind;
  readonly #client: ServiceClient;
  readonly #headers: readonly { readonly name: string; format(info: StreamInfo): string }[];

  constructor(service: CollectorService, kind: HttpRequestKind, client: ServiceClient) {
    this.#service = service;
    this.#kind = kind;
    this.#client = client;
    this.#headers = service.headers.map(({ name, format }) => {
      const compiled = compileTextFormat(format, { omitEmptyValues: false });
      return { name, format: (info) => compiled(info) };
    });
  }

  send(body: Buffer, done: (outcome: Outcome) => void, extra: ExtraHeaders = []): void {
    const { cluster, timeoutMs } = this.#service.target;
    let isKnown = true;
    const client: ServiceClient = {
      send: (name, request, callbacks) => {
        const stream = this.#client.send(name, request, callbacks);
        isKnown = stream !== undefined;
        return stream;
      },
    };
    HttpCall.start(
      client,
      {
        cluster,
        headers: this.#head(extra),
        body,
        timeoutMs,
        connection: undefined,
        tellsAddress: true,
        responseBytesMax: RESPONSE_BYTES_MAX,
      },
      {
        onResponse: ({ headers: { status } }) =>
          done(this.#isAccepted(status) ? 'accepted' : 'refused'),
        onFailure: () => done(isKnown ? 'refused' : 'no_cluster'),
        onException: () => done('failed'),
      },
    );
  }

  #isAccepted(status: number): boolean {
    const { accepted } = this.#kind;
    return accepted === undefined ? status >= 200 && status < 300 : status === accepted;
  }

  release(): void {
    // Requests in progress end by themselves.
  }

  #head(extra: ExtraHeaders): HeaderMap {
    const { authority, path, scheme } = this.#service.target;
    const headers = new HeaderMap();
    headers.method = 'POST';
    headers.path = path;
    headers.authority = authority;
    headers.scheme = scheme;
    for (const [name, value] of extra) headers.set(name, value);
    headers.set('content-type', this.#kind.contentType);
    if (this.#kind.userAgent !== undefined) headers.set('user-agent', this.#kind.userAgent);
    for (const header of this.#headers) headers.set(header.name, header.format(NO_STREAM));
    return headers;
  }
}

/** Unary calls of one method. */
class GrpcCollector implements Collector {
  readonly #service: GrpcService;
  readonly #options: { readonly method: string; readonly timeoutMs: number };

  constructor(service: GrpcService, method: string, timeoutMs: number) {
    this.#service = service;
    this.#options = { method, timeoutMs };
  }

  send(body: Buffer, done: (outcome: Outcome) => void): void {
    this.#service.call(this.#options, body, {
      onAnswer: () => done('accepted'),
      onFailure: () => done('refused'),
      onException: () => done('failed'),
    });
  }

  release(): void {
    this.#service.release();
  }
}

/** What receives the OpenTelemetry protocol; `method` is that of its gRPC service. */
export function otlpCollector(
  exporter: Exporter,
  method: string,
  { services, grpcServices }: CollectorEnv,
  userAgent: string,
): Collector {
  if (exporter.kind === 'grpc') {
    return new GrpcCollector(grpcServices.service(exporter.target), method, exporter.timeoutMs);
  }
  const kind = { contentType: 'application/x-protobuf', userAgent };
  return new HttpCollector(exporter, kind, services);
}
