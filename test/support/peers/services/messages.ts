/** Messages of a gRPC stream to and from a peer of tests, in canonical JSON form. */
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { decodeMessage } from '../../../../supervisor/config/convert/message-decoder.ts';
import { messageToBinary } from '../../../../supervisor/config/message-codec.ts';
import { framed, type SeenCall } from './grpc-peer.ts';

const catalog = new ApiCatalog();
/** Flags and length. */
const FRAME_HEAD = 5;

/** A message of this type as it stands on the wire. */
export function wireMessage(type: string, message: object): Buffer {
  return framed(Buffer.from(messageToBinary(catalog, type, message as never)));
}

/** The whole messages that a call has brought so far. */
export function messagesOf<Message>(call: SeenCall | undefined, type: string): Message[] {
  const bytes = call?.body() ?? Buffer.alloc(0);
  const messages: Message[] = [];
  let at = 0;
  while (at + FRAME_HEAD <= bytes.length) {
    const end = at + FRAME_HEAD + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) break;
    const options = { catalog, onUnknownField: () => undefined };
    const body = bytes.subarray(at + FRAME_HEAD, end);
    messages.push(decodeMessage(options, catalog.message(type), body) as Message);
    at = end;
  }
  return messages;
}
