/**
 * Records what passes over one connection, as plain bytes: one record at its end, or one for each
 * read and write (streaming). Source: envoy.transport_sockets.tap, envoy.data.tap.v3.
 */
import { socketAddress } from '../net/addresses.ts';
import type { StreamAddresses } from '../net/byte-stream.ts';
import type { TransportWatcher } from '../net/transport-watcher.ts';
import type { ActiveTap } from './request-tap.ts';
import { formatTrace, type TraceOutput } from './tap-sink.ts';
import { field, message, type TraceField } from './trace-message.ts';
import { bodyFields, connectionFields } from './trace-parts.ts';

/** Envoy gathers at least as much. */
const GATHERED_BYTES_MIN = 9;
/** Events of one record, which is kept until its connection ends; those behind them are left out. */
const EVENTS_MAX = 10_000;

export interface SocketTapOptions {
  readonly tap: ActiveTap;
  readonly traceId: bigint;
  readonly addresses: StreamAddresses;
  readonly connectionPerEvent: boolean;
  readonly counted: (how: 'streamed_submit' | 'buffered_submit') => void;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
}

type Direction = 'read' | 'write';

const EVENT_NUMBERS = { read: 2, write: 3, closed: 4 } as const;

export class SocketTap implements TransportWatcher {
  readonly #options: SocketTapOptions;
  readonly #limits: Readonly<Record<Direction, number>>;
  readonly #matches: boolean;
  /** What waits for its record. */
  #events: (readonly TraceField[])[] = [];
  #gathered = 0;
  readonly #kept: Record<Direction, number> = { read: 0, write: 0 };
  readonly #isTruncated: Record<Direction, boolean> = { read: false, write: false };
  /** The place of what is streamed: how many bytes came before it, counted from 1. */
  #place = 1;
  /** Both ends, as far as they are known. */
  #ends: readonly TraceField[] = [];
  #output: TraceOutput | undefined;

  constructor(options: SocketTapOptions) {
    this.#options = options;
    const { settings, matcher } = options.tap;
    this.#limits = { read: settings.maxRequestBytes, write: settings.maxResponseBytes };
    // Nothing that a connection carries changes it: rules are about requests.
    this.#matches = matcher().status.matches;
    this.#learnEnds();
    if (settings.streaming && this.#matches) this.#segment([this.#connection(2)]);
  }

  onConnect(): void {
    this.#learnEnds();
  }

  onRead(input: Buffer, start: number, end: number): void {
    this.#add('read', end - start, (limit) => input.subarray(start, Math.min(end, start + limit)));
  }

  onWrite(data: string | Uint8Array): void {
    this.#add('write', data.length, (limit) =>
      typeof data === 'string'
        ? Buffer.from(data.slice(0, limit), 'latin1')
        : Buffer.from(data.buffer, data.byteOffset, Math.min(limit, data.length)),
    );
  }

  onClose(): void {
    if (!this.#matches) return;
    if (this.#options.tap.settings.streaming) {
      this.#place += 1;
      this.#stream('closed', message(EVENT_NUMBERS.closed, 'closed', []), 0);
    } else {
      this.#write(3, 'socket_buffered_trace', [
        this.#connection(2),
        field(3, 'events', { kind: 'messages', items: this.#events }),
        field(4, 'read_truncated', { kind: 'bool', value: this.#isTruncated.read }),
        field(5, 'write_truncated', { kind: 'bool', value: this.#isTruncated.write }),
      ]);
    }
    this.#output?.end();
    this.#events = [];
  }

  /** `take` gives what a limit leaves of the bytes. */
  #add(of: Direction, length: number, take: (limit: number) => Buffer): void {
    if (!this.#matches || length === 0) return;
    const { streaming } = this.#options.tap.settings;
    if (!streaming && (this.#isTruncated[of] || this.#events.length >= EVENTS_MAX)) {
      this.#isTruncated[of] = true;
      return;
    }
    const limit = Math.max(0, this.#limits[of] - (streaming ? 0 : this.#kept[of]));
    const kept = Buffer.from(take(limit));
    const isTruncated = kept.length < length;
    const data = message(1, 'data', bodyFields(kept, isTruncated));
    const ends = of === 'read' ? [] : [field(2, 'end_stream', { kind: 'bool', value: false })];
    const passed = message(EVENT_NUMBERS[of], of, [data, ...ends]);
    if (streaming) {
      this.#stream(of, passed, length);
      this.#place += length;
      return;
    }
    this.#kept[of] += kept.length;
    this.#isTruncated[of] = isTruncated;
    this.#events.push(this.#event(passed, 0));
  }

  #stream(what: Direction | 'closed', passed: TraceField, bytes: number): void {
    const { minStreamedBytes } = this.#options.tap.settings;
    const event = this.#event(passed, this.#place);
    if (minStreamedBytes === undefined) {
      this.#segment([field(3, 'event', { kind: 'message', fields: event })]);
      return;
    }
    this.#events.push(event);
    this.#gathered += bytes;
    if (what !== 'closed' && this.#gathered < Math.max(GATHERED_BYTES_MIN, minStreamedBytes))
      return;
    const events = field(1, 'events', { kind: 'messages', items: this.#events });
    this.#events = [];
    this.#gathered = 0;
    this.#segment([message(4, 'events', [events])]);
  }

  #event(passed: TraceField, place: number): readonly TraceField[] {
    const { connectionPerEvent, nowMs } = this.#options;
    return [
      field(1, 'timestamp', { kind: 'timestamp', ms: nowMs() }),
      passed,
      ...(connectionPerEvent && place > 0 ? [this.#connection(5)] : []),
      field(6, 'seq_num', { kind: 'uint64', value: BigInt(place) }),
    ];
  }

  #connection(number: number): TraceField {
    return message(number, 'connection', this.#ends);
  }

  #learnEnds(): void {
    const { localAddress, localPort, remoteAddress, remotePort } = this.#options.addresses;
    const local = localAddress === undefined ? undefined : socketAddress(localAddress, localPort);
    const remote =
      remoteAddress === undefined ? undefined : socketAddress(remoteAddress, remotePort);
    this.#ends = connectionFields(local, remote);
  }

  #segment(fields: readonly TraceField[]): void {
    this.#write(4, 'socket_streamed_trace_segment', fields);
  }

  #write(number: 3 | 4, name: string, fields: readonly TraceField[]): void {
    const { tap, traceId, counted } = this.#options;
    const { format } = tap.settings;
    this.#output ??= tap.sink.open(traceId, format);
    const trace = message(number, name, [
      field(1, 'trace_id', { kind: 'uint64', value: traceId }),
      ...fields,
    ]);
    this.#output.write(formatTrace([trace], format));
    counted(number === 3 ? 'buffered_submit' : 'streamed_submit');
  }
}
