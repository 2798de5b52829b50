/**
 * Requests of HTTP/2 that would be two of HTTP/1, or another one, if they were written down as they
 * are: lengths and codings beside the frames, line ends and blanks in names, values and pseudo
 * headers, authorities beside Host, trailers that frame. As published corpora on downgrades list
 * them (h2.CL, h2.TE, h2.0, request splitting).
 */
import type { Fields } from '../peers/http2-client.ts';

export interface DowngradeCase {
  readonly title: string;
  readonly fields: Fields;
  /** DATA frames; absent: the head ends the stream. */
  readonly data?: readonly string[];
  readonly trailers?: Fields;
}

export const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n';
const SPLIT = `x\r\n\r\n${HIDDEN}`;

const PSEUDO = [':method', ':scheme', ':authority', ':path'] as const;
const USUAL: Fields = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'h'],
  [':path', '/a'],
];

type Field = readonly [name: string, value: string];

function head(...more: readonly Field[]): Fields {
  return [...USUAL, ...more];
}

function having(name: string, value: string): Fields {
  return USUAL.map(([each, usual]) => [each, each === name ? value : usual]);
}

function sending(title: string, field: Field, data: readonly string[]): DowngradeCase {
  return { title: `${title}: ${JSON.stringify(field)}`, fields: head(field), data };
}

function headOf(title: string, fields: Fields): DowngradeCase {
  return { title: `${title}: ${JSON.stringify(fields)}`, fields };
}

const LENGTHS = ['0', '1', '4', '6', '999', '+5', '-5', '0x5', '5,5', '5 ', ' 5', '5\0', '', '5.0'];
const WRONG_LENGTHS = [...LENGTHS, '18446744073709551621', '5e0', '٥', '5\r\nx: y', 'chunked'];

/** h2.CL: the frames say 5. */
const lengths: readonly DowngradeCase[] = [
  ...WRONG_LENGTHS.map((value) => sending('h2.CL', ['content-length', value], ['hello'])),
  sending('h2.CL hides', ['content-length', '0'], [HIDDEN]),
  sending('h2.CL hides behind', ['content-length', '1'], ['x', HIDDEN]),
  {
    title: 'h2.CL twice',
    fields: head(['content-length', '5'], ['content-length', '6']),
    data: ['hello'],
  },
  { title: 'h2.CL without a body', fields: head(['content-length', '5']) },
  {
    title: 'h2.CL before trailers',
    fields: head(['content-length', '9']),
    data: ['hello'],
    trailers: [['x-t', '1']],
  },
];

/** h2.TE, and whatever else belongs to one hop of HTTP/1. */
const codings: readonly DowngradeCase[] = [
  ...['chunked', 'identity', 'Chunked', 'x', ''].map((value) =>
    sending('h2.TE', ['transfer-encoding', value], [`0\r\n\r\n${HIDDEN}`]),
  ),
  ...['transfer-encoding ', ' transfer-encoding', 'transfer-encoding\0', 'transfer-encoding:'].map(
    (name) => sending('h2.TE odd', [name, 'chunked'], [`0\r\n\r\n${HIDDEN}`]),
  ),
  ...['Transfer-Encoding', 'transfer-encoding: chunked\r\nx', 'transfer-encoding\r\n'].map((name) =>
    sending('h2.TE in a name', [name, 'chunked'], [`0\r\n\r\n${HIDDEN}`]),
  ),
  ...['connection', 'keep-alive', 'proxy-connection', 'upgrade'].map((name) =>
    sending('of one hop', [name, 'close'], ['hello']),
  ),
  ...['chunked', 'trailers, chunked', 'gzip'].map((value) => sending('te', ['te', value], ['x'])),
];

const SPLITTERS = ['\r\n', '\n', '\r', '\0'];

/** A request in a name or a value. */
const splits: readonly DowngradeCase[] = [
  ...['x-a', 'cookie', 'host', 'te', 'x-forwarded-for', 'expect'].flatMap((name) =>
    SPLITTERS.map((end) => headOf('split in a value', head([name, `x${end}y: z`]))),
  ),
  ...SPLITTERS.map((end) => headOf('split in a name', head([`x-a: b${end}y`, 'z']))),
  headOf('a whole request in a value', head(['x-a', SPLIT])),
  headOf('a whole request in a name', head([`x-a: ${SPLIT}`, 'z'])),
  ...PSEUDO.flatMap((name) =>
    [...SPLITTERS.map((end) => `/x${end}y`), `/x HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`, ''].map(
      (value) => headOf('split in a pseudo header', having(name, value)),
    ),
  ),
];

/** Names, methods and targets that end a line's part. */
const blanks: readonly DowngradeCase[] = [
  ...['/a b', '/a\tb', ' /a', '/a ', '/ HTTP/1.1', '/a\x7f', '/\x0b'].map((value) =>
    headOf('a blank in the path', having(':path', value)),
  ),
  ...['GET /hidden HTTP/1.1', 'GET ', ' GET', 'G\tET', 'GET:', 'G(T', ''].map((value) =>
    headOf('an odd method', having(':method', value)),
  ),
  ...['h/a', 'h a', 'h?b', 'h#c', 'h\\d', '"h"', 'h<x>', ''].map((value) =>
    headOf('an odd authority', having(':authority', value)),
  ),
  ...['http://h/hidden?', 'http ', 'ht tp', '1http', ':'].map((value) =>
    headOf('an odd scheme', having(':scheme', value)),
  ),
  ...['x a', 'x\ta', ' x-a', 'x-a ', 'x:a', ':x', '', 'X-A', 'x(a', 'x\xa0a', 'x"a'].map((name) =>
    headOf('an odd name', head([name, 'v'])),
  ),
];

/** Pseudo headers twice, late, or of answers. */
const orders: readonly DowngradeCase[] = [
  ...PSEUDO.map((name) => headOf('twice', [...USUAL, [name, 'x'] as const])),
  ...PSEUDO.map((name) =>
    headOf(
      'missing',
      USUAL.filter(([each]) => each !== name),
    ),
  ),
  headOf('late', [['x-a', 'b'], ...USUAL]),
  headOf('of an answer', [...USUAL, [':status', '200']]),
  headOf('of no message', [...USUAL, [':hidden', 'x']]),
  { title: 'in trailers', fields: USUAL, data: ['a'], trailers: [[':path', '/hidden']] },
  ...[
    ['transfer-encoding', 'chunked'],
    ['connection', 'close'],
    ['x-t', `1\r\n\r\n${HIDDEN}`],
    [`x-t: 1\r\n\r\n${HIDDEN}`, 'x'],
  ].map(([name = '', value = '']) => ({
    title: `in trailers: ${name}`,
    fields: USUAL,
    data: ['a'],
    trailers: [[name, value]] as Fields,
  })),
];

/** The host answers nothing to these, and no whole request arrives there. */
export const REFUSED_DOWNGRADES: readonly DowngradeCase[] = [
  ...lengths.filter(({ fields }) => fields.at(-1)?.[1] !== '5' || fields.length > 5),
  ...codings,
  ...splits,
  ...blanks,
  ...orders,
  { title: 'a length and no body', fields: head(['content-length', '5']) },
];

/** These may pass; if they do, then as one message that says the same. */
export const ODD_DOWNGRADES: readonly DowngradeCase[] = [
  sending('a length that is right', ['content-length', '5'], ['he', 'llo']),
  sending('a length with a zero', ['content-length', '05'], ['hello']),
  sending('a body that looks like a request', ['x-a', 'b'], [HIDDEN]),
  sending('a body that looks like chunks', ['x-a', 'b'], [`0\r\n\r\n${HIDDEN}`]),
  sending('trailers wanted', ['te', 'trailers'], ['a']),
  ...['other', 'h, other', 'h:80', 'other:1'].map((value) =>
    headOf('Host beside the authority', head(['host', value])),
  ),
  ...['*', '//other/x', 'http://other/x', '/a#b', '/%0d%0a', '/../x', 'x', '/\xe9'].map((value) =>
    headOf('an odd path', having(':path', value)),
  ),
  ...['user@h', 'h:99999', '[::1]', 'h:', ':80', 'h%0d', '[h', '%'].map((value) =>
    headOf('an odd authority', having(':authority', value)),
  ),
  ...['https', 'ftp', 'HTTP', 'a+b'].map((value) => headOf('a scheme', having(':scheme', value))),
  ...['get', 'PRI', "!#$%&'*+-.^_`|~", 'CONNECT', 'HEAD'].map((value) =>
    headOf('a method', having(':method', value)),
  ),
  ...['content_length', 'transfer_encoding', 'content-length-x', 'x-content-length'].map((name) =>
    sending('a name that some take for another', [name, '99'], ['hello']),
  ),
  ...['content-length', 'host', 'content-type', 'expect', 'cookie', 'te', 'trailer'].map(
    (name) => ({
      title: `in trailers: ${name}`,
      fields: USUAL,
      data: ['hello'],
      trailers: [[name, '3']] as Fields,
    }),
  ),
  sending('expecting', ['expect', '100-continue'], ['hello']),
  sending('a folded value', ['x-a', 'a\t b'], ['hello']),
  headOf('many cookies', head(['cookie', 'a=b'], ['cookie', 'c=d; e'], ['cookie', ''])),
];
