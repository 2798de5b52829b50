/**
 * Fingerprints of TLS clients: what a client offers, in a short text that is the same for the same
 * program. JA3 is the MD5 of five lists; JA4 says some of it openly and hashes the rest, sorted.
 * Values that clients make up, to keep servers open for new ones (RFC 8701), are left out.
 * Sources: https://github.com/salesforce/ja3, https://github.com/FoxIO-LLC/ja4
 */
import { createHash } from 'node:crypto';
import { ByteReader } from './byte-reader.ts';

const SERVER_NAME = 0;
const GROUPS = 10;
const POINT_FORMATS = 11;
const SIGNATURE_ALGORITHMS = 13;
const ALPN = 16;
const SUPPORTED_VERSIONS = 43;

const JA4_HASH_LENGTH = 12;
const COUNT_MAX = 99;
const UNKNOWN_VERSION = '00';
const VERSIONS = new Map([
  [0x0304, '13'],
  [0x0303, '12'],
  [0x0302, '11'],
  [0x0301, '10'],
]);

/** What a client offers, as far as fingerprints look at it. */
export interface ClientOffer {
  readonly version: number;
  readonly ciphers: readonly number[];
  readonly extensions: readonly Extension[];
}

interface Extension {
  readonly type: number;
  readonly body: Buffer;
}

/** `body` is the first message of a client, behind its head. */
export function readOffer(body: Buffer): ClientOffer {
  const reader = new ByteReader(body, 0, body.length);
  const version = reader.number(2) ?? 0;
  reader.skip(32);
  reader.vector(1);
  const ciphers = numbersIn(reader.vector(2), 2);
  reader.vector(1);
  const list = reader.vector(2);
  const extensions: Extension[] = [];
  while (list !== undefined && !list.isAtEnd) {
    const type = list.number(2);
    const content = list.vector(2);
    if (type === undefined || content === undefined) break;
    extensions.push({ type, body: content.bytes() });
  }
  return { version, ciphers: ciphers.filter(isReal), extensions: extensions.filter(isRealType) };
}

/** In hexadecimal digits. */
export function ja3Of({ version, ciphers, extensions }: ClientOffer): string {
  // Envoy leaves made-up values in here, in this list alone.
  const groups = numbersIn(listOf(extensions, GROUPS, 2), 2);
  const formats = numbersIn(listOf(extensions, POINT_FORMATS, 1), 1);
  const lists = [[version], ciphers, extensions.map(({ type }) => type), groups, formats];
  const text = lists.map((list) => list.join('-')).join(',');
  return createHash('md5').update(text).digest('hex');
}

export function ja4Of(offer: ClientOffer): string {
  const { ciphers, extensions } = offer;
  const hasName = extensions.some(({ type }) => type === SERVER_NAME);
  const counts = `${twoDigits(ciphers.length)}${twoDigits(extensions.length)}`;
  const open = `t${versionOf(offer)}${hasName ? 'd' : 'i'}${counts}${protocolEnds(extensions)}`;
  const types = extensions
    .map(({ type }) => type)
    .filter((type) => type !== SERVER_NAME && type !== ALPN);
  const algorithms = numbersIn(listOf(extensions, SIGNATURE_ALGORITHMS, 2), 2);
  const signed = algorithms.length === 0 ? '' : `_${hexList(algorithms)}`;
  return `${open}_${hashOfList(ciphers, '')}_${hashOfList(types, signed)}`;
}

/** The highest that is offered; the old field counts where none is. */
function versionOf({ version, extensions }: ClientOffer): string {
  const body = bodyOf(extensions, SUPPORTED_VERSIONS);
  const list = body && new ByteReader(body, 0, body.length).vector(1);
  if (body !== undefined && list === undefined) return UNKNOWN_VERSION;
  const highest = Math.max(0, ...numbersIn(list, 2).filter(isReal));
  return VERSIONS.get(highest === 0 ? version : highest) ?? UNKNOWN_VERSION;
}

/** First and last character of the first protocol, or of its bytes' hexadecimal digits if odd. */
function protocolEnds(extensions: readonly Extension[]): string {
  const protocol = listOf(extensions, ALPN, 2)?.vector(1)?.text() ?? '';
  if (protocol === '') return '00';
  const ends = `${protocol.charAt(0)}${protocol.charAt(protocol.length - 1)}`;
  if (/^[0-9A-Za-z]{2}$/.test(ends)) return ends;
  const digits = Buffer.from(ends, 'latin1').toString('hex');
  return `${digits.charAt(0)}${digits.charAt(digits.length - 1)}`;
}

function hashOfList(numbers: readonly number[], rest: string): string {
  if (numbers.length === 0) return '0'.repeat(JA4_HASH_LENGTH);
  const text = `${hexList([...numbers].sort((left, right) => left - right))}${rest}`;
  return createHash('sha256').update(text).digest('hex').slice(0, JA4_HASH_LENGTH);
}

function hexList(numbers: readonly number[]): string {
  return numbers.map((number) => number.toString(16).padStart(4, '0')).join(',');
}

function twoDigits(count: number): string {
  return String(Math.min(count, COUNT_MAX)).padStart(2, '0');
}

/** The list in an extension of this type, behind its length: Envoy reads to the extension's end. */
function listOf(
  extensions: readonly Extension[],
  wanted: number,
  lengthBytes: number,
): ByteReader | undefined {
  const body = bodyOf(extensions, wanted);
  return body && new ByteReader(body, lengthBytes, body.length);
}

function bodyOf(extensions: readonly Extension[], wanted: number): Buffer | undefined {
  return extensions.find(({ type }) => type === wanted)?.body;
}

function numbersIn(list: ByteReader | undefined, bytes: number): number[] {
  const numbers: number[] = [];
  for (let number = list?.number(bytes); number !== undefined; number = list?.number(bytes)) {
    numbers.push(number);
  }
  return numbers;
}

/** Both bytes are the same and end in a: made up. */
function isReal(number: number): boolean {
  return number >> 8 !== (number & 0xff) || (number & 0x0f) !== 0x0a;
}

function isRealType({ type }: Extension): boolean {
  return isReal(type);
}
