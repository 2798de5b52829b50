/**
 * Clients of HTTP/2 that cost a server more than themselves: each flood is what one connection sends
 * behind its preface. The path `/big` is expected to answer some kilobytes, all others a few bytes.
 */
import {
  Flag,
  frameHeader,
  FrameType,
  pingFrame,
  resetFrame,
  settingsFrame,
  windowUpdateFrame,
} from '../../../../workers/http2/frames.ts';
import { dataFrame, type Frame, framesOf, GET, headersFrame, PREFACE } from '../http2-client.ts';
import { openRaw } from '../raw-client.ts';

export interface Http2Flood {
  readonly title: string;
  readonly bytes: string;
  /** Sent for each DATA frame that comes. */
  onData?(stream: number): string;
  /** The number of answers to wait for where the connection goes on. */
  readonly answers?: number;
}

export interface FloodEnd {
  /** The code of the last GOAWAY, if one came. */
  readonly goaway: number | undefined;
  /** The server ended the connection. */
  readonly isEnded: boolean;
  readonly answers: number;
}

const POST = GET.map(([name, value]) => [name, name === ':method' ? 'POST' : value] as const);
const BIG = GET.map(([name, value]) => [name, name === ':path' ? '/big' : value] as const);
/** `GET http://h.test/` by the static table alone. */
const REQUEST_BLOCK = '\u0082\u0084\u0086\u0001\u0006h.test';
/** The table is emptied by a size of 0 and has its 4,096 bytes back: two updates. */
const EMPTY_TABLE = '\u0020\u003f\u00e1\u001f';
const FIRST_DYNAMIC = '\u00be';
const FRAME_BYTES = 16_384;
const THRASHED_FIELDS = 60;
const THRASHING_REQUESTS = 90;
const PACED_STREAMS = 50;

const times = (count: number, make: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => make(at)).join('');
const streamOf = (at: number): number => 1 + 2 * at;

function frame(type: number, flags: number, stream: number, payload: string): string {
  return frameHeader(payload.length, type, flags, stream) + payload;
}

function blockFrame(stream: number, block: string): string {
  return frame(FrameType.headers, Flag.endStream | Flag.endHeaders, stream, block);
}

/** A string of HPACK without Huffman; its length in a prefix of seven bits. */
function hpackText(text: string): string {
  if (text.length < 127) return String.fromCharCode(text.length) + text;
  let length = String.fromCharCode(127);
  let rest = text.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) {
    length += String.fromCharCode((rest % 128) + 128);
  }
  return length + String.fromCharCode(rest) + text;
}

const indexed = (name: string, value: string): string => `@${hpackText(name)}${hpackText(value)}`;

/** A request whose fields all enter the table, which the next request empties. */
function thrashing(at: number): string {
  const fields = times(THRASHED_FIELDS, (field) => indexed(`x-${at}-${field}`, 'v'.repeat(20)));
  return blockFrame(streamOf(at), EMPTY_TABLE + REQUEST_BLOCK + fields);
}

/** One entry that fills the table, then as many references to it as a frame holds. */
function bomb(): string {
  const block = REQUEST_BLOCK + indexed('x-bomb', 'v'.repeat(4_000));
  return blockFrame(1, block + FIRST_DYNAMIC.repeat(FRAME_BYTES - block.length));
}

const unfinished = frame(FrameType.headers, Flag.endStream, 1, REQUEST_BLOCK);

export const HTTP2_FLOODS: readonly Http2Flood[] = [
  {
    title: 'rapid reset',
    bytes: times(1_000, (at) => headersFrame(streamOf(at), GET) + resetFrame(streamOf(at), 8)),
  },
  {
    title: 'CONTINUATION, empty',
    bytes: unfinished + frame(FrameType.continuation, 0, 1, '').repeat(5_000),
  },
  {
    title: 'CONTINUATION, full',
    bytes:
      unfinished +
      frame(
        FrameType.continuation,
        0,
        1,
        `\u0000${hpackText('x')}${hpackText('v'.repeat(9_000))}`,
      ).repeat(50),
  },
  { title: 'SETTINGS', bytes: settingsFrame([[4, 65_535]]).repeat(10_000) },
  { title: 'PING', bytes: pingFrame('12345678', false).repeat(10_000) },
  { title: 'empty DATA', bytes: headersFrame(1, POST, 0) + dataFrame(1, '').repeat(5_000) },
  {
    title: 'window of one',
    bytes: settingsFrame([[4, 1]]) + times(PACED_STREAMS, (at) => headersFrame(streamOf(at), BIG)),
    onData: (stream) => windowUpdateFrame(stream, 1),
    answers: PACED_STREAMS,
  },
  {
    title: 'WINDOW_UPDATE',
    bytes: headersFrame(1, POST, 0) + windowUpdateFrame(0, 1).repeat(5_000),
  },
  {
    title: 'PRIORITY',
    bytes: times(5_000, (at) => frame(FrameType.priority, 0, streamOf(at), '\0\0\0\0\u0010')),
  },
  { title: 'HPACK bomb', bytes: bomb() },
  {
    title: 'thrashing table',
    bytes: times(THRASHING_REQUESTS, thrashing),
    answers: THRASHING_REQUESTS,
  },
];

/**
 * Sends a flood on one connection and reads until the server ends it or has answered everything; a
 * flood that is paced sends on for each piece of an answer.
 */
export async function floodOnce(port: number, flood: Http2Flood): Promise<FloodEnd> {
  const client = await openRaw(port);
  let steps = 0;
  let rest = '';
  client.socket.on('data', (chunk: Buffer) => {
    if (flood.onData === undefined || steps > PACED_STEPS) return;
    const { frames, unread } = wholeFrames(rest + chunk.toString('latin1'));
    rest = unread;
    for (const { type, stream } of frames) {
      if (type === FrameType.data && steps++ < PACED_STEPS) client.send(flood.onData(stream));
    }
    // Everything is answered once this PING is.
    if (steps > PACED_STEPS) client.send(LAST_PING);
  });
  client.send(PREFACE + flood.bytes + (flood.onData === undefined ? LAST_PING : ''));
  const isEnded = await client
    .until((text) => isAnswered(text, flood.answers ?? 0))
    .then(() => false)
    .catch(() => true);
  const frames = framesOf(client.received());
  client.destroy();
  const goaway = frames.findLast(({ type }) => type === FrameType.goaway);
  return { goaway: goaway?.payload.readUInt32BE(4), isEnded, answers: answersOf(frames) };
}

function isAnswered(text: string, answers: number): boolean {
  return text.includes(LAST_PING_ANSWER) && answersOf(framesOf(text)) >= answers;
}

function answersOf(frames: readonly Frame[]): number {
  return frames.filter(({ type }) => type === FrameType.headers).length;
}

function wholeFrames(text: string): { readonly frames: readonly Frame[]; readonly unread: string } {
  const frames = framesOf(text);
  const length = frames.reduce((sum, { payload }) => sum + 9 + payload.length, 0);
  return { frames, unread: text.slice(length) };
}

const PACED_STEPS = 2_000;
const LAST_PING = pingFrame('thelast!', false);
const LAST_PING_ANSWER = pingFrame('thelast!', true);
