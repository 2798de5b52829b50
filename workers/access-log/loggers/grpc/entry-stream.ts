/**
 * The stream of one log to its service: opened with the first entries, and again with the first
 * after its end. Its first message says which server and which log these are.
 */
import type { LogStream } from '../../../../shared/resources/access-loggers/grpc.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import type { GrpcService, GrpcServices, GrpcStream } from '../../../services/grpc-services.ts';

const METHOD = '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs';
/** `http_logs` and `tcp_logs` of StreamAccessLogsMessage. */
const FIELDS = { http: 2, tcp: 3 } as const;
/** For the service's answer once nothing more is sent. */
const LAST_ANSWER_MS = 1000;

export interface StreamEnv {
  readonly loop: WorkerLoop;
  readonly grpcServices: GrpcServices;
  /** This server as it names itself: envoy.config.core.v3.Node, encoded. */
  readonly nodeMessage: Uint8Array;
}

export class EntryStream implements TimerOwner {
  readonly #env: StreamEnv;
  readonly #log: LogStream;
  readonly #service: GrpcService;
  readonly #lastAnswer: LoopTimer;
  #stream: GrpcStream | undefined = undefined;
  #isIdentified = false;
  #onEnded: (() => void) | undefined = undefined;

  constructor(log: LogStream, env: StreamEnv) {
    this.#env = env;
    this.#log = log;
    this.#service = env.grpcServices.service(log.target);
    this.#lastAnswer = new LoopTimer(this, 0);
  }

  /** False: there is no stream, or it has as much to send as it may hold. */
  send(entries: readonly Uint8Array[]): boolean {
    const stream = this.#stream ?? this.#open();
    if (stream === undefined || stream.isCongested) return false;
    stream.send(this.#encode(entries));
    this.#isIdentified = true;
    return true;
  }

  /** Nothing more is sent; `done` is called when the service has ended the stream too, or late. */
  end(done: () => void): void {
    this.#service.release();
    if (this.#stream === undefined) return done();
    this.#onEnded = done;
    this.#env.loop.timers.list(LAST_ANSWER_MS).arm(this.#lastAnswer);
    this.#stream.endSending();
  }

  onTimer(): void {
    this.#stream?.cancel();
    this.#over();
  }

  onException(): void {
    this.#over();
  }

  #open(): GrpcStream | undefined {
    let isOver = false;
    const over = (): void => {
      isOver = true;
      this.#over();
    };
    const stream = this.#service.open(
      { method: METHOD },
      { onMessage: () => undefined, onEnd: over, onException: over },
    );
    // There may be no such cluster, or no host in it.
    this.#stream = isOver ? undefined : stream;
    this.#isIdentified = false;
    return this.#stream;
  }

  #over(): void {
    this.#lastAnswer.disarm();
    this.#stream = undefined;
    const ended = this.#onEnded;
    this.#onEnded = undefined;
    ended?.();
  }

  #encode(entries: readonly Uint8Array[]): Buffer {
    const writer = new ProtoWriter();
    const { logName, entries: kind } = this.#log;
    if (!this.#isIdentified) {
      writer.message(1, () => {
        writer.bytes(1, this.#env.nodeMessage);
        writer.utf8(2, logName);
      });
    }
    writer.message(FIELDS[kind], () => {
      for (const entry of entries) writer.bytes(1, entry);
    });
    return writer.finish();
  }
}
