/**
 * The client of `/tap`: at most one, whose records come from all workers. Owns what waits for it
 * and what workers are told; knows nothing of HTTP or of the form of a record.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { TapLoss } from '../../shared/messages/worker-notices.ts';
import { TAP_RECORD_BYTES_MAX } from '../../shared/resources/tap.ts';
import type { TapListenOrder, TapSettings } from '../../shared/resources/tap.ts';
import type { TapNotice } from '../../shared/messages/worker-notices.ts';
import type { UnansweredCommand } from '../../shared/messages/supervisor-to-worker.ts';
import { TapStream } from './tap-stream.ts';

const NOT_KEPT_UP = 'its client did not keep up';
const TOO_LARGE = `they were larger than ${TAP_RECORD_BYTES_MAX} bytes`;

export interface TapRequest {
  readonly configId: string;
  readonly settings: TapSettings;
  /** Collects so many records, or what came within the time, and gives them at once. */
  readonly buffered?: SessionLimits;
  /** Records at listeners, each as it comes. */
  readonly listen?: SessionLimits & { readonly order: TapListenOrder };
}

/** When a session ends by itself. */
interface SessionLimits {
  readonly maxTraces: number;
  readonly timeoutMs: number | undefined;
}

export interface TapSessionsOptions {
  readonly clock: Clock;
  notify(notice: UnansweredCommand): void;
  log(text: string): void;
}

interface Session {
  readonly number: number;
  readonly request: TapRequest;
  readonly stream: TapStream;
  readonly timer: Timer | undefined;
  traces: number;
  /** Records that workers could not send. */
  readonly lost: Record<TapLoss, number>;
}

export class TapSessions {
  readonly #options: TapSessionsOptions;
  #session: Session | undefined;
  #count = 0;

  constructor(options: TapSessionsOptions) {
    this.#options = options;
  }

  get isAttached(): boolean {
    return this.#session !== undefined;
  }

  /** Records until the reader closes the stream, or the buffered session is complete. */
  begin(request: TapRequest): AsyncIterable<Uint8Array> {
    this.#count += 1;
    const number = this.#count;
    const { buffered, listen } = request;
    const stream = new TapStream(buffered !== undefined, () => this.#end(number));
    const timeoutMs = (buffered ?? listen)?.timeoutMs;
    const timer =
      timeoutMs === undefined
        ? undefined
        : this.#options.clock.after(timeoutMs, () => this.#end(number), { unref: true });
    this.#session = {
      number,
      request,
      stream,
      timer,
      traces: 0,
      lost: { too_large: 0, too_slow: 0 },
    };
    this.#options.notify(noticeOf(number, request));
    return stream;
  }

  /** What a worker sent; of a session that is over it is dropped. */
  heard(notice: TapNotice): void {
    const present = this.#session;
    if (present?.number !== notice.session) return;
    if (notice.kind === 'tapped') this.#recorded(present, notice.trace);
    else this.#lost(present, notice.records, notice.why);
  }

  #recorded(present: Session, trace: Uint8Array): void {
    present.stream.push(trace);
    present.traces += 1;
    const limits = present.request.buffered ?? present.request.listen;
    if (limits !== undefined && present.traces >= limits.maxTraces) {
      this.#end(present.number);
    }
  }

  /** The log tells at once of what is too large: its client waits for what never comes. */
  #lost(present: Session, records: number, why: TapLoss): void {
    if (why === 'too_large' && present.lost.too_large === 0) {
      this.#options.log(
        `a record of the tap '${present.request.configId}' is dropped: ` +
          `it is larger than ${TAP_RECORD_BYTES_MAX} bytes`,
      );
    }
    present.lost[why] += records;
  }

  /** What a new worker has to be told. */
  notices(): readonly UnansweredCommand[] {
    if (this.#session === undefined) return [];
    const { number, request } = this.#session;
    return [noticeOf(number, request)];
  }

  stop(): void {
    if (this.#session !== undefined) this.#end(this.#session.number);
  }

  #end(number: number): void {
    const session = this.#session;
    if (session?.number !== number) return;
    this.#session = undefined;
    session.timer?.cancel();
    session.stream.end();
    const { configId } = session.request;
    this.#options.notify({ kind: 'set_tap', session: number, configId });
    this.#logLosses(configId, session.stream.dropped + session.lost.too_slow, NOT_KEPT_UP);
    this.#logLosses(configId, session.lost.too_large, TOO_LARGE);
  }

  #logLosses(configId: string, count: number, reason: string): void {
    if (count === 0) return;
    this.#options.log(`${count} records of the tap '${configId}' were dropped: ${reason}`);
  }
}

function noticeOf(session: number, { configId, settings, listen }: TapRequest): UnansweredCommand {
  const order = listen === undefined ? {} : { listen: listen.order };
  return { kind: 'set_tap', session, configId, settings, ...order };
}
