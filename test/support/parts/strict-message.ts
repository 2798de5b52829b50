/**
 * Reads what a host or a client received, as the strictest parser would, and knows nothing of the
 * code under test: every message with its head and body, or an error where the bytes are none.
 */

export interface StrictMessage {
  readonly start: string;
  /** Names as they came, each with its value. */
  readonly fields: readonly (readonly [string, string])[];
  readonly body: string;
  readonly trailers: readonly (readonly [string, string])[];
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FIELD = /^([^:]*): ?([^]*)$/;
const REQUEST = /^([^ ]+) ([\x21-\x7e]+) HTTP\/1\.1$/;
const STATUS = /^HTTP\/1\.[01] [1-9][0-9]{2} [\x20-\x7e]*$/;

/** All messages in `bytes` (latin1), which must be whole. */
export function readStrictly(bytes: string, kind: 'request' | 'response'): StrictMessage[] {
  const messages: StrictMessage[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) throw new Error(`a head without an end: ${JSON.stringify(bytes.slice(at))}`);
    const [start = '', ...lines] = bytes.slice(at, end).split('\r\n');
    checkStart(start, kind);
    const fields = lines.map(readField);
    const { body, trailers, next } = readBody(bytes, end + 4, fields);
    messages.push({ start, fields, body, trailers });
    at = next;
  }
  return messages;
}

export function valuesOf(message: StrictMessage | undefined, name: string): readonly string[] {
  return (message?.fields ?? []).filter(([each]) => each.toLowerCase() === name).map(([, v]) => v);
}

function checkStart(start: string, kind: 'request' | 'response'): void {
  if (kind === 'response') {
    if (!STATUS.test(start)) throw new Error(`no status line: ${JSON.stringify(start)}`);
    return;
  }
  const method = REQUEST.exec(start)?.[1];
  if (method === undefined || !TOKEN.test(method)) {
    throw new Error(`no request line: ${JSON.stringify(start)}`);
  }
}

function readField(line: string): readonly [string, string] {
  const parts = FIELD.exec(line);
  const [, name = '', value = ''] = parts ?? [];
  // oxlint-disable-next-line no-control-regex
  if (!TOKEN.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
    throw new Error(`no field: ${JSON.stringify(line)}`);
  }
  return [name, value];
}

function readBody(
  bytes: string,
  from: number,
  fields: readonly (readonly [string, string])[],
): Pick<StrictMessage, 'body' | 'trailers'> & { readonly next: number } {
  const values = (name: string): string[] =>
    fields.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const lengths = values('content-length');
  const codings = values('transfer-encoding');
  if (lengths.length + codings.length > 1) throw new Error('two framings');
  if (codings.length > 0) {
    if (codings[0] !== 'chunked') throw new Error(`coding ${codings[0] ?? ''}`);
    return readChunks(bytes, from);
  }
  const [length = '0'] = lengths;
  if (!/^\d+$/.test(length)) throw new Error(`length ${length}`);
  const next = from + Number(length);
  if (next > bytes.length) throw new Error('a body that is too short');
  return { body: bytes.slice(from, next), trailers: [], next };
}

function readChunks(
  bytes: string,
  from: number,
): Pick<StrictMessage, 'body' | 'trailers'> & { readonly next: number } {
  let body = '';
  let at = from;
  for (;;) {
    const line = /^([0-9a-f]+)\r\n/.exec(bytes.slice(at, at + 20));
    if (line === null) throw new Error(`no chunk: ${JSON.stringify(bytes.slice(at))}`);
    const size = Number.parseInt(line[1] ?? '', 16);
    at += line[0].length;
    if (size === 0) break;
    body += bytes.slice(at, at + size);
    at += size;
    if (bytes.slice(at, at + 2) !== '\r\n') throw new Error('a chunk of another length');
    at += 2;
  }
  if (bytes.slice(at, at + 2) === '\r\n') return { body, trailers: [], next: at + 2 };
  const end = bytes.indexOf('\r\n\r\n', at);
  if (end < 0) throw new Error('trailers without an end');
  const trailers = bytes.slice(at, end).split('\r\n').map(readField);
  return { body, trailers, next: end + 4 };
}
