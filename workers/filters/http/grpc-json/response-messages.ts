/** Messages of an answer as JSON, or as the body that they carry. */
import type { ProtoField } from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import { readMessage } from './wire-values.ts';
import type { TranscodedCall, Transcoding } from './transcoding.ts';

const NOTHING = Buffer.alloc(0);

/** A body that a message carries as it is. */
export interface RawBody {
  readonly contentType: string;
  readonly data: Buffer;
}

export function rawBodyOf(
  transcoding: Transcoding,
  { output }: TranscodedCall,
  path: readonly ProtoField[],
  message: Buffer,
): RawBody {
  let type = output;
  let data = message;
  for (const field of path) {
    const value = readMessage(type, data).get(field.number)?.at(-1) ?? NOTHING;
    const inner = transcoding.types.typeOfField(field);
    if (typeof value === 'bigint' || inner === undefined) return { contentType: '', data: NOTHING };
    type = inner;
    data = value;
  }
  const values = readMessage(type, data);
  const contentType = values.get(1)?.at(-1) ?? NOTHING;
  const content = values.get(2)?.at(-1) ?? NOTHING;
  return {
    contentType: typeof contentType === 'bigint' ? '' : contentType.toString('latin1'),
    data: typeof content === 'bigint' ? NOTHING : content,
  };
}

/** The messages of a stream as one body. */
export class JsonStreamPrinter {
  readonly #transcoding: Transcoding;
  readonly #call: TranscodedCall;
  #count = 0;

  constructor(transcoding: Transcoding, call: TranscodedCall) {
    this.#transcoding = transcoding;
    this.#call = call;
  }

  /** Throws TranscodeError. */
  print(message: Buffer): string {
    const json = this.#transcoding.printer.print(this.#call.output, message);
    const isFirst = this.#count++ === 0;
    switch (this.#transcoding.options.print.streams) {
      case 'lines':
        return `${json}\n`;
      case 'events':
        return `data: ${json}\n\n`;
      default:
        return `${isFirst ? '[' : ','}${json}`;
    }
  }

  /** What ends the body. */
  end(): string {
    if (this.#transcoding.options.print.streams !== 'array') return '';
    return this.#count === 0 ? '[]' : ']';
  }
}
