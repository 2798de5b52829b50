/** Bodies of requests as the messages of a call, in frames. */
import { lengthDelimited } from '../../../../shared/protobuf/records.ts';
import { frameHeader } from '../../common/grpc-frames.ts';
import { JsonObject, parseJson } from './json-text.ts';
import { BoundValues } from './bound-values.ts';
import type { TranscodedCall, Transcoding } from './transcoding.ts';

const UNKNOWN_QUERY_TYPE =
  'type.googleapis.com/envoy.extensions.filters.http.grpc_json_transcoder.v3.UnknownQueryParams';

/** Makes the frame of one message. Throws TranscodeError. */
export function jsonFrame(transcoding: Transcoding, call: TranscodedCall, body: Buffer): Buffer {
  const { input, bound, bodyPath } = call;
  const { writer } = transcoding;
  const node = isBlank(body) ? new JsonObject() : parseJson(body);
  return framed(
    bodyPath.length === 0
      ? writer.write(input, node, bound)
      : writer.writeWithField(input, bodyPath, node, bound),
  );
}

/** The frame of a message of a stream; only the first has what the path and the query bring. */
export function elementFrame(
  transcoding: Transcoding,
  call: TranscodedCall,
  element: Buffer,
  isFirst: boolean,
): Buffer {
  return jsonFrame(transcoding, isFirst ? call : { ...call, bound: new BoundValues() }, element);
}

/** The frame of a message that has the body as it is, or a piece of it. */
export function rawFrame(
  transcoding: Transcoding,
  call: TranscodedCall,
  part: { readonly data: Buffer; readonly contentType: string; readonly isFirst: boolean },
): Buffer {
  const { input, bound, bodyPath, unknownQuery } = call;
  const pieces: Buffer[] = [];
  if (part.isFirst) {
    if (part.contentType !== '') pieces.push(textRecord(1, part.contentType));
    pieces.push(lengthDelimited(2, part.data));
    if (unknownQuery.size > 0) pieces.push(unknownQueryRecord(unknownQuery));
  } else if (part.data.length > 0) {
    pieces.push(lengthDelimited(2, part.data));
  }
  let message: Buffer = Buffer.concat(pieces);
  for (const field of bodyPath.toReversed()) message = lengthDelimited(field.number, message);
  if (!part.isFirst) return framed(message);
  const rest = transcoding.writer.write(input, new JsonObject(), bound);
  return framed(Buffer.concat([message, rest]));
}

function framed(message: Buffer): Buffer {
  return Buffer.concat([frameHeader(message.length), message]);
}

function textRecord(number: number, text: string): Buffer {
  return lengthDelimited(number, Buffer.from(text, 'utf8'));
}

function unknownQueryRecord(unknown: ReadonlyMap<string, readonly string[]>): Buffer {
  const entries = [...unknown].map(([name, values]) =>
    lengthDelimited(
      1,
      Buffer.concat([
        textRecord(1, name),
        lengthDelimited(2, Buffer.concat(values.map((value) => textRecord(1, value)))),
      ]),
    ),
  );
  const any = [textRecord(1, UNKNOWN_QUERY_TYPE), lengthDelimited(2, Buffer.concat(entries))];
  return lengthDelimited(3, Buffer.concat(any));
}

function isBlank(body: Buffer): boolean {
  return body.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}
