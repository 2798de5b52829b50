/**
 * What a client of `/tap/listen` gets: the records of its tap in the form that it asked for. The
 * reader's end is passed on at once, also while a record is waited for.
 */
import { harEntry, HAR_END, HAR_OPENING } from './har.ts';
import { pcapHeader, PcapWriter } from './pcap.ts';
import { type TraceRecord, withoutSecrets } from './trace-json.ts';

export const LISTEN_FORMATS = ['har', 'ndjson', 'pcap'] as const;
export type ListenFormat = (typeof LISTEN_FORMATS)[number];

type Piece = string | Uint8Array;

/** How records are written one after the other. */
interface Form {
  readonly opening: Piece;
  readonly end: Piece;
  /** Empty: this record has no place in the form. */
  record(record: TraceRecord): Piece;
}

export interface ListenOutputOptions {
  readonly format: ListenFormat;
  readonly keepsSecrets: boolean;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
}

export class ListenOutput implements AsyncIterable<Piece> {
  readonly #records: AsyncIterator<Uint8Array>;
  readonly #form: Form;
  #state: 'new' | 'open' | 'ended' = 'new';

  constructor(records: AsyncIterable<Uint8Array>, options: ListenOutputOptions) {
    this.#records = records[Symbol.asyncIterator]();
    this.#form = formOf(options);
  }

  [Symbol.asyncIterator](): AsyncIterator<Piece> {
    return {
      next: async () => await this.#next(),
      return: async () => {
        await this.#records.return?.();
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<Piece>> {
    const form = this.#form;
    if (this.#state === 'new') {
      this.#state = 'open';
      if (form.opening.length > 0) return { done: false, value: form.opening };
    }
    while (this.#state === 'open') {
      const step = await this.#records.next();
      if (step.done === true) {
        this.#state = 'ended';
        if (form.end.length > 0) return { done: false, value: form.end };
        break;
      }
      const piece = form.record(JSON.parse(Buffer.from(step.value).toString()) as TraceRecord);
      if (piece.length > 0) return { done: false, value: piece };
    }
    return { done: true, value: undefined };
  }
}

function formOf({ format, keepsSecrets, nowMs }: ListenOutputOptions): Form {
  const shown = (record: TraceRecord): TraceRecord =>
    keepsSecrets ? record : withoutSecrets(record);
  switch (format) {
    case 'ndjson':
      return { opening: '', end: '', record: (record) => `${JSON.stringify(shown(record))}\n` };
    case 'har': {
      let separator = '';
      return {
        opening: HAR_OPENING,
        end: HAR_END,
        record(record) {
          const { http_buffered_trace: trace } = shown(record);
          if (trace === undefined) return '';
          const entry = separator + JSON.stringify(harEntry(trace));
          separator = ',\n';
          return entry;
        },
      };
    }
    case 'pcap': {
      const writer = new PcapWriter();
      return {
        opening: pcapHeader(),
        end: '',
        record: ({ socket_streamed_trace_segment: segment }) =>
          segment === undefined ? '' : writer.packets(segment, nowMs()),
      };
    }
  }
}
