/**
 * What the runtime's own HTTP/1 parser reads in given bytes: a second opinion on framing, header
 * values and bodies. It is the parser behind node:http, asked without sockets, as strict as it is
 * there.
 */
import { createRequire } from 'node:module';

export interface ReadMessage {
  /** `GET /path` or `200`. */
  start: string;
  /** Names and values as written, in turns; trailers apart. */
  headers: readonly string[];
  trailers: readonly string[];
  body: string;
  isComplete: boolean;
  /** What follows is no HTTP. */
  isUpgrade: boolean;
}

export interface Reading {
  readonly messages: readonly ReadMessage[];
  /** The parser's code for why it refused; '' when it did not. */
  readonly refusal: string;
}

type Callback = (...words: readonly unknown[]) => unknown;

interface RuntimeParser {
  initialize(kind: number, resource: object): void;
  execute(bytes: Buffer, offset: number, length: number): number | ParseFailure;
  finish(): ParseFailure | undefined;
  [callback: number]: Callback;
}

interface ParseFailure {
  readonly code: string;
}

interface RuntimeParserClass {
  new (): RuntimeParser;
  readonly REQUEST: number;
  readonly RESPONSE: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}

const { HTTPParser: Parser, methods } = createRequire(import.meta.url)('_http_common') as {
  readonly HTTPParser: RuntimeParserClass;
  readonly methods: readonly string[];
};

/** Places of what the parser says of a head. */
const AT = { headers: 2, method: 3, target: 4, status: 5, upgrade: 7 } as const;

export interface ReadOptions {
  /** The response answers a HEAD: whatever it says, no body follows. */
  readonly isToHead?: boolean;
  /** The peer closed behind the bytes. */
  readonly isClosed?: boolean;
}

/** Reads all messages in `bytes`, which is latin-1 text. */
export function readAsRuntime(
  kind: 'request' | 'response',
  bytes: string,
  { isToHead = false, isClosed = false }: ReadOptions = {},
): Reading {
  const messages: ReadMessage[] = [];
  let current = emptyMessage();
  let isHeadRead = false;
  const parser = new Parser();
  parser.initialize(kind === 'request' ? Parser.REQUEST : Parser.RESPONSE, {});
  parser[Parser.kOnHeaders] = (headers) => {
    const more = headers as readonly string[];
    if (isHeadRead) current.trailers = [...current.trailers, ...more];
    else current.headers = [...current.headers, ...more];
  };
  parser[Parser.kOnHeadersComplete] = (...words) => {
    isHeadRead = true;
    current.headers = [...current.headers, ...((words[AT.headers] ?? []) as readonly string[])];
    current.start =
      kind === 'request'
        ? `${methods[words[AT.method] as number]} ${String(words[AT.target])}`
        : String(words[AT.status]);
    current.isUpgrade = words[AT.upgrade] === true;
    messages.push(current);
    return isToHead ? 1 : 0;
  };
  parser[Parser.kOnBody] = (piece) => {
    current.body += (piece as Buffer).toString('latin1');
  };
  parser[Parser.kOnMessageComplete] = () => {
    current.isComplete = true;
    current = emptyMessage();
    isHeadRead = false;
  };
  const input = Buffer.from(bytes, 'latin1');
  let result: unknown = parser.execute(input, 0, input.length);
  if (isClosed && !isFailure(result)) result = parser.finish();
  return { messages, refusal: isFailure(result) ? result.code : '' };
}

function emptyMessage(): ReadMessage {
  return { start: '', headers: [], trailers: [], body: '', isComplete: false, isUpgrade: false };
}

function isFailure(result: unknown): result is ParseFailure {
  return result instanceof Error && 'code' in result;
}
