/** The body of one transcoded request: gathered, or cut into messages as it comes. */
import type { FilterContext } from '../../filter-context.ts';
import { KeptBody } from '../../common/kept-body.ts';
import { JsonListReader } from './json-list-reader.ts';
import { elementFrame, jsonFrame, rawFrame } from './request-messages.ts';
import type { TranscodedCall, Transcoding } from './transcoding.ts';

const NOTHING = Buffer.alloc(0);

export class RequestBody {
  readonly #transcoding: Transcoding;
  readonly #call: TranscodedCall;
  readonly #contentType: string;
  readonly #kept: KeptBody;
  /** The reader of a stream of messages that are JSON. */
  readonly #list: JsonListReader | undefined;
  /** The limit of a list, with what is kept of an element. */
  readonly #mostBytes: number;
  #isFirst = true;

  constructor(
    transcoding: Transcoding,
    call: TranscodedCall,
    contentType: string,
    context: FilterContext,
  ) {
    const { maxRequestBytes: limit = context.bufferLimitBytes } = transcoding.options;
    const isList = call.method.isClientStreaming && !call.takesRawBody && call.binding.body !== '';
    this.#transcoding = transcoding;
    this.#mostBytes = transcoding.options.maxRequestBytes ?? Number.POSITIVE_INFINITY;
    this.#call = call;
    this.#contentType = contentType;
    this.#kept = new KeptBody(context, limit);
    this.#list = isList ? new JsonListReader(limit) : undefined;
  }

  /** A request that has no body. Throws TranscodeError, as do the others. */
  whole(): Buffer {
    this.#list?.end();
    return this.#frameOf(NOTHING);
  }

  /** Frames that are complete; undefined when more would have to be kept than may be. */
  add(data: Buffer): Buffer | undefined {
    if (this.#list !== undefined) return this.#elements(this.#list, data);
    const { takesRawBody, method } = this.#call;
    if (takesRawBody && method.isClientStreaming) return data.length === 0 ? data : this.#raw(data);
    return this.#kept.add(data) ? NOTHING : undefined;
  }

  /** The same of the last piece. */
  end(data: Buffer): Buffer | undefined {
    const before = this.add(data);
    if (before === undefined) return undefined;
    if (this.#list !== undefined) {
      this.#list.end();
      return before;
    }
    if (this.#call.takesRawBody && this.#call.method.isClientStreaming) {
      return this.#isFirst ? this.#raw(NOTHING) : before;
    }
    return this.#frameOf(this.#kept.take());
  }

  drop(): void {
    this.#kept.drop();
  }

  #frameOf(body: Buffer): Buffer {
    return this.#call.takesRawBody
      ? this.#raw(body)
      : jsonFrame(this.#transcoding, this.#call, body);
  }

  #raw(data: Buffer): Buffer {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    return rawFrame(this.#transcoding, this.#call, {
      data,
      contentType: this.#contentType,
      isFirst,
    });
  }

  #elements(list: JsonListReader, data: Buffer): Buffer | undefined {
    if (list.keptBytes + data.length > this.#mostBytes) return undefined;
    const elements = list.read(data);
    if (elements === undefined) return undefined;
    const frames = elements.map((element) => {
      const isFirst = this.#isFirst;
      this.#isFirst = false;
      return elementFrame(this.#transcoding, this.#call, element, isFirst);
    });
    return Buffer.concat(frames);
  }
}
