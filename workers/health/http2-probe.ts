/** Asks a host over HTTP/2: an ordinary request, or the health service of gRPC. */
import type { GrpcProbe, HttpProbe } from '../../shared/resources/health-check.ts';
import { Http2Exchange, type Http2Answer } from './http2-exchange.ts';
import { type HttpJudge, USER_AGENT } from './judge-http.ts';
import type { Probe, ProbeOutcome, ProbeTarget } from './probe.ts';

const SERVING = 1;
const LENGTH_PREFIX_BYTES = 5;

export class Http2Probe implements Probe {
  readonly #resource: HttpProbe | GrpcProbe;
  readonly #target: ProbeTarget;
  readonly #reuse: boolean;
  readonly #judge: HttpJudge | undefined;
  #connection: Http2Exchange | undefined;

  /** `judge` is for ordinary requests. */
  constructor(
    resource: HttpProbe | GrpcProbe,
    target: ProbeTarget,
    reuse: boolean,
    judge: HttpJudge | undefined,
  ) {
    this.#judge = judge;
    this.#resource = resource;
    this.#target = target;
    this.#reuse = reuse;
  }

  run(done: (outcome: ProbeOutcome) => void): void {
    if (this.#connection?.isUsable !== true) this.#connection = new Http2Exchange(this.#target);
    const connection = this.#connection;
    const resource = this.#resource;
    const answered = (answer: Http2Answer | undefined): void => {
      if (!this.#reuse) connection.cancel();
      done(this.#judge === undefined ? judgeGrpc(answer) : judgeAnswer(this.#judge, answer));
    };
    const authority = resource.authority ?? this.#target.authority;
    if (resource.kind === 'grpc') {
      connection.ask(grpcHeaders(resource, authority), checkRequest(resource.service), answered);
    } else {
      const payload = Buffer.from(resource.payload ?? '', 'hex');
      const headers = httpHeaders(resource, authority);
      if (payload.length > 0) headers['content-length'] = String(payload.length);
      connection.ask(headers, payload.length === 0 ? undefined : payload, answered);
    }
  }

  cancel(): void {
    this.#connection?.cancel();
    this.#connection = undefined;
  }
}

function httpHeaders(resource: HttpProbe, authority: string): Record<string, string> {
  const headers: Record<string, string> = {
    ':method': resource.method,
    ':path': resource.path,
    ':scheme': 'http',
    ':authority': authority,
    'user-agent': USER_AGENT,
  };
  for (const [name, value] of resource.headers) {
    headers[name === 'host' ? ':authority' : name] = value;
  }
  for (const name of resource.removedHeaders) if (!name.startsWith(':')) delete headers[name];
  return headers;
}

function grpcHeaders(resource: GrpcProbe, authority: string): Record<string, string> {
  return {
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Check',
    ':scheme': 'http',
    ':authority': authority,
    te: 'trailers',
    'content-type': 'application/grpc',
    'user-agent': USER_AGENT,
    ...Object.fromEntries(resource.headers),
  };
}

function judgeAnswer(judge: HttpJudge, answer: Http2Answer | undefined): ProbeOutcome {
  if (answer === undefined) return { kind: 'unreachable', isTimeout: false };
  const { status, headers, body } = answer;
  return judge.judge({
    status,
    header: (name) => headers[name]?.toString(),
    body: body.subarray(0, Math.min(judge.bodyBytesMax, body.length)),
  });
}

/** Any other answer than that it serves says that it does not. */
function judgeGrpc(answer: Http2Answer | undefined): ProbeOutcome {
  if (answer === undefined) return { kind: 'unreachable', isTimeout: false };
  const { headers, trailers, body, status } = answer;
  const grpcStatus = trailers['grpc-status'] ?? headers['grpc-status'];
  const isServing = status === 200 && grpcStatus === '0' && servingStatus(body) === SERVING;
  return isServing
    ? { kind: 'passed', isDegraded: headers['x-envoy-degraded'] !== undefined }
    : { kind: 'failed', isRetriable: false, isImmediate: false, status };
}

/** grpc.health.v1.HealthCheckRequest with its gRPC prefix; an empty name asks for the whole server. */
function checkRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const message =
    name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]);
  const prefix = Buffer.alloc(LENGTH_PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** The field 1 of a HealthCheckResponse; 0 when it is not there. */
function servingStatus(body: Buffer): number {
  const isField = body[LENGTH_PREFIX_BYTES] === 0x08;
  return isField ? (body[LENGTH_PREFIX_BYTES + 1] ?? 0) : 0;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
