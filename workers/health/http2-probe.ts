/** Asks a host over HTTP/2: an ordinary request, or the health service of gRPC. */
import { dictionary } from '../../shared/text/dictionary.ts';
import type { OutgoingHttpHeaders } from 'node:http2';
import type { HeaderMap } from '../stream/header-map.ts';
import { requestFault } from '../stream/message-door.ts';
import { namesInOrder } from '../stream/pseudo-order.ts';
import { saysServing } from './grpc-check.ts';
import { Http2Exchange, type Http2Answer } from './http2-exchange.ts';
import type { HttpJudge } from './judge-http.ts';
import type { Probe, ProbeOutcome, RequestTarget } from './probe.ts';

export class Http2Probe implements Probe {
  readonly #target: RequestTarget;
  readonly #reuse: boolean;
  readonly #judge: HttpJudge | undefined;
  #connection: Http2Exchange | undefined;

  /** `judge` is for ordinary requests; without it answers are those of the health service. */
  constructor(target: RequestTarget, reuse: boolean, judge: HttpJudge | undefined) {
    this.#judge = judge;
    this.#target = target;
    this.#reuse = reuse;
  }

  run(done: (outcome: ProbeOutcome) => void): void {
    const { headers, body } = this.#target.request();
    if (requestFault(headers, true) !== undefined) {
      done({ kind: 'unreachable', isTimeout: false });
      return;
    }
    if (this.#connection?.isUsable !== true) this.#connection = new Http2Exchange(this.#target);
    const connection = this.#connection;
    connection.ask(headersOf(headers), body.length === 0 ? undefined : body, (answer) => {
      if (!this.#reuse) connection.cancel();
      done(this.#judge === undefined ? judgeGrpc(answer) : judgeAnswer(this.#judge, answer));
    });
  }

  cancel(): void {
    this.#connection?.cancel();
    this.#connection = undefined;
  }
}

function headersOf(headers: HeaderMap): OutgoingHttpHeaders {
  const order = namesInOrder(headers.pseudoOrder);
  const written = dictionary<string | string[]>(
    order.map((name) => [name, headers.get(name) ?? ''] as const),
  );
  headers.forEach((name, value) => {
    const known = written[name];
    written[name] = known === undefined ? value : [known, value].flat();
  });
  return written;
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

/**
 * Any other answer than that it serves says that it does not; headers of the answer do not count.
 */
function judgeGrpc(answer: Http2Answer | undefined): ProbeOutcome {
  if (answer === undefined) return { kind: 'unreachable', isTimeout: false };
  const { headers, trailers, body, status } = answer;
  const grpcStatus = trailers['grpc-status'] ?? headers['grpc-status'];
  return status === 200 && grpcStatus === '0' && saysServing(body)
    ? { kind: 'passed', isDegraded: false }
    : { kind: 'failed', isRetriable: false, isImmediate: false, status: 0 };
}
