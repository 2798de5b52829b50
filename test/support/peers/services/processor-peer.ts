/** A processor of ext_proc for tests: each message that it gets is answered as a test says. */
import type http2 from 'node:http2';
import { readMessage, visitFields } from '../../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import { framed, type GrpcPeer, type SeenCall, startGrpcPeer } from './grpc-peer.ts';

/** Numbers of the fields of ProcessingRequest, and of those of ProcessingResponse that answer them. */
const PARTS = {
  request_headers: { asked: 2, answered: 1 },
  response_headers: { asked: 3, answered: 2 },
  request_body: { asked: 4, answered: 3 },
  response_body: { asked: 5, answered: 4 },
  request_trailers: { asked: 6, answered: 5 },
  response_trailers: { asked: 7, answered: 6 },
} as const;
export type PartName = keyof typeof PARTS;

export interface SeenPart {
  readonly part: PartName;
  /** The headers and trailers, joined as `name=value`. */
  readonly headers: readonly string[];
  readonly body: string;
  readonly endOfStream: boolean;
}

interface AnswerText {
  readonly set?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  readonly body?: string;
  readonly replaces?: boolean;
  readonly clearsRoute?: boolean;
  /** A piece that is given back in a body of FULL_DUPLEX_STREAMED. */
  readonly piece?: string;
  readonly isLast?: boolean;
}

/** A ProcessingResponse for a part. */
export function processed(part: PartName, answer: AnswerText = {}): Buffer {
  const writer = new ProtoWriter();
  const isTrailers = part.endsWith('trailers');
  writer.message(PARTS[part].answered, () => {
    if (isTrailers) writer.message(1, () => writeMutation(writer, answer));
    else writer.message(1, () => writeCommon(writer, answer));
  });
  return Buffer.from(writer.finish());
}

function writeCommon(writer: ProtoWriter, answer: AnswerText): void {
  const { body, piece, replaces = false, clearsRoute = false, isLast = false } = answer;
  writer.integer(1, Number(replaces));
  writer.message(2, () => writeMutation(writer, answer));
  if (body !== undefined) writer.message(3, () => writer.bytes(1, Buffer.from(body)));
  if (piece !== undefined) {
    writer.message(3, () =>
      writer.message(3, () => {
        writer.text(1, piece);
        writer.integer(2, Number(isLast));
      }),
    );
  }
  writer.integer(5, Number(clearsRoute));
}

function writeMutation(writer: ProtoWriter, { set = {}, remove = [] }: AnswerText): void {
  for (const [name, value] of Object.entries(set)) {
    writer.message(1, () =>
      writer.message(1, () => {
        writer.text(1, name);
        writer.text(3, value);
      }),
    );
  }
  for (const name of remove) writer.text(2, name);
}

/** A ProcessingResponse that ends the request at once. */
export function immediate(status: number, body: string, details = ''): Buffer {
  const writer = new ProtoWriter();
  writer.message(7, () => {
    writer.message(1, () => writer.integer(1, status));
    writer.text(3, body);
    writer.text(5, details);
  });
  return Buffer.from(writer.finish());
}

export interface ProcessorPeer extends GrpcPeer {
  readonly seen: SeenPart[];
}

type Answering = (
  part: SeenPart,
  stream: http2.ServerHttp2Stream,
) => Buffer | readonly Buffer[] | undefined;

/** `answer` gives what is sent back, in order; undefined: nothing is. */
export async function startProcessor(answer: Answering): Promise<ProcessorPeer> {
  const seen: SeenPart[] = [];
  const serve = ({ stream }: SeenCall): void => {
    let rest: Buffer = Buffer.alloc(0);
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.on('end', () => {
      if (!stream.writableEnded) stream.end();
    });
    stream.on('data', (piece: Buffer) => {
      rest = Buffer.concat([rest, piece]);
      for (;;) {
        const length = rest.length < 5 ? Infinity : rest.readUInt32BE(1);
        if (rest.length < 5 + length) return;
        const part = readPart(rest.subarray(5, 5 + length));
        rest = rest.subarray(5 + length);
        seen.push(part);
        for (const message of [answer(part, stream) ?? []].flat()) {
          if (!stream.destroyed && !stream.writableEnded) stream.write(framed(message));
        }
      }
    });
  };
  const peer = await startGrpcPeer(serve);
  return {
    port: peer.port,
    calls: peer.calls,
    seen,
    [Symbol.asyncDispose]: async () => peer[Symbol.asyncDispose](),
  };
}

function readPart(message: Buffer): SeenPart {
  const found = {
    part: 'request_headers' as PartName,
    headers: [] as string[],
    body: '',
    end: false,
  };
  readMessage(message, (bytes) =>
    visitFields(bytes, (field) => {
      const entry = Object.entries(PARTS).find(([, { asked }]) => asked === field.number);
      if (entry === undefined) return;
      found.part = entry[0] as PartName;
      const isBody = found.part.endsWith('body');
      field.message((inner) => {
        if (isBody && inner.number === 1) found.body = inner.bytes()?.toString('latin1') ?? '';
        else if (isBody || inner.number === 3) found.end = inner.integer() !== 0;
        else if (inner.number === 1) {
          inner.message((header) => {
            let [name, value] = ['', ''];
            header.message((text) => {
              if (text.number === 1) name = text.text() ?? '';
              else value = text.bytes()?.toString('latin1') ?? '';
            });
            found.headers.push(`${name}=${value}`);
          });
        }
      });
    }),
  );
  const { part, headers, body, end } = found;
  return { part, headers, body, endOfStream: end };
}
