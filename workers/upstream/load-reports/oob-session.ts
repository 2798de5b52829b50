/**
 * One host's own reports of its load: a stream of gRPC over a connection of its own, opened again
 * with back-off when it ends. Source: xds.service.orca.v3.OpenRcaService.
 */
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { http2Module } from '../../../shared/process/http2-memory.ts';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import type { ProbeTarget } from '../../health/probe.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import { readReportMessage, type LoadReport } from './load-report.ts';

const PATH = '/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics';
/** Requests name their own authority. */
const ANY_AUTHORITY = 'http://localhost';
const FRAME_HEAD_BYTES = 5;
/** A report is some dozens of bytes. */
const MAX_MESSAGE_BYTES = 64 * 1024;
const FIRST_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 30_000;

type OobEvent = 'report_errors' | 'reports_received' | 'stream_failures' | 'stream_terminated';

export interface OobSessionParts {
  readonly loop: WorkerLoop;
  readonly target: ProbeTarget;
  readonly authority: string;
  readonly periodMs: number;
  /** From 0 to 1. */
  random(): number;
  onReport(report: LoadReport): void;
  count(event: OobEvent): void;
  countActive(change: 1 | -1): void;
}

export class OobSession implements TimerOwner {
  readonly #parts: OobSessionParts;
  readonly #timer = new LoopTimer(this, 0);
  #session: ClientHttp2Session | undefined;
  #kept: Buffer = Buffer.alloc(0);
  #isActive = false;
  #isClosed = false;
  #backOffMs = FIRST_BACK_OFF_MS;

  constructor(parts: OobSessionParts) {
    this.#parts = parts;
    this.#open();
  }

  onTimer(): void {
    this.#open();
  }

  onException(): void {
    this.#end('stream_failures');
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.disarm();
    this.#letGo();
  }

  #open(): void {
    const { loop, target, authority, periodMs } = this.#parts;
    const socket = target.open();
    const session = http2Module().connect(ANY_AUTHORITY, { createConnection: () => socket });
    this.#session = session;
    this.#kept = Buffer.alloc(0);
    const run = (act: () => void) => (): void => {
      if (this.#session === session) loop.run(this, act);
    };
    session.on(
      'error',
      run(() => this.#end('stream_failures')),
    );
    session.on(
      'close',
      run(() => this.#end('stream_failures')),
    );
    session.on(
      'goaway',
      run(() => this.#end('stream_terminated')),
    );
    const stream = session.request(
      {
        ':method': 'POST',
        ':path': PATH,
        ':authority': authority,
        ':scheme': 'http',
        te: 'trailers',
        'content-type': 'application/grpc',
      },
      { endStream: false },
    );
    this.#listen(stream, run);
    stream.end(requestMessage(periodMs));
    this.#setActive(true);
  }

  #listen(stream: ClientHttp2Stream, run: (act: () => void) => () => void): void {
    stream.on('response', (headers) => {
      if (headers[':status'] !== 200) run(() => this.#end('stream_failures'))();
    });
    stream.on('data', (piece: Buffer) => run(() => this.#take(piece))());
    stream.on(
      'error',
      run(() => this.#end('stream_failures')),
    );
    stream.on(
      'close',
      run(() => this.#end('stream_terminated')),
    );
  }

  #take(piece: Buffer): void {
    let all = this.#kept.length === 0 ? piece : Buffer.concat([this.#kept, piece]);
    while (all.length >= FRAME_HEAD_BYTES) {
      const length = all.readUInt32BE(1);
      if (length > MAX_MESSAGE_BYTES || all[0] !== 0) {
        this.#parts.count('report_errors');
        this.#end('stream_failures');
        return;
      }
      const end = FRAME_HEAD_BYTES + length;
      if (all.length < end) break;
      this.#report(all.subarray(FRAME_HEAD_BYTES, end));
      all = all.subarray(end);
    }
    this.#kept = Buffer.from(all);
  }

  #report(message: Buffer): void {
    const report = readReportMessage(message);
    if (report === undefined) {
      this.#parts.count('report_errors');
      return;
    }
    this.#backOffMs = FIRST_BACK_OFF_MS;
    this.#parts.count('reports_received');
    this.#parts.onReport(report);
  }

  #end(event: 'stream_failures' | 'stream_terminated'): void {
    if (this.#isClosed || this.#session === undefined) return;
    this.#parts.count(event);
    this.#letGo();
    const delayMs = Math.ceil(this.#backOffMs * (0.5 + this.#parts.random() / 2));
    this.#backOffMs = Math.min(MAX_BACK_OFF_MS, this.#backOffMs * 2);
    this.#parts.loop.timers.list(delayMs).arm(this.#timer);
  }

  #letGo(): void {
    const session = this.#session;
    this.#session = undefined;
    this.#kept = Buffer.alloc(0);
    this.#setActive(false);
    session?.destroy();
  }

  #setActive(isActive: boolean): void {
    if (this.#isActive === isActive) return;
    this.#isActive = isActive;
    this.#parts.countActive(isActive ? 1 : -1);
  }
}

/** OrcaLoadReportRequest in a frame. */
function requestMessage(periodMs: number): Buffer {
  const writer = new ProtoWriter();
  writer.message(1, () => {
    writer.integer(1, Math.floor(periodMs / 1000));
    writer.integer(2, (periodMs % 1000) * 1_000_000);
  });
  const message = writer.finish();
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
