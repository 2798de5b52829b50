/** A kept response as the bytes of a file: a line of JSON that describes it, and its body. */
import { HeaderMap } from '../../../stream/header-map.ts';
import type { KeptResponse } from './memory-cache.ts';

const VERSION = 1;
const NEWLINE = 0x0a;

interface Description {
  readonly version: number;
  readonly key: string;
  readonly receivedS: number;
  readonly status: number;
  /** Name, value, name, value, … */
  readonly headers: readonly string[];
  readonly bytes: number;
}

export function writeKept(key: string, { headers, body, receivedS }: KeptResponse): Buffer {
  const description: Description = {
    version: VERSION,
    key,
    receivedS,
    status: headers.status,
    headers: headers.entries,
    bytes: body.length,
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(description)}\n`), body]);
}

/** Undefined for anything but a whole response of that key. */
export function readKept(key: string, file: Buffer): KeptResponse | undefined {
  const end = file.indexOf(NEWLINE);
  if (end < 0) return undefined;
  const said = describe(file.subarray(0, end));
  const body = file.subarray(end + 1);
  if (said === undefined || said.key !== key || said.bytes !== body.length) return undefined;
  const headers = mapOf(said.headers);
  headers.status = said.status;
  return { headers, body, receivedS: said.receivedS };
}

function describe(bytes: Buffer): Description | undefined {
  let said: Partial<Description> | null;
  try {
    said = JSON.parse(bytes.toString()) as Partial<Description> | null;
  } catch {
    return undefined;
  }
  if (typeof said !== 'object' || said === null || said.version !== VERSION) return undefined;
  const { key, receivedS, status, headers, bytes: length } = said;
  const isWhole =
    typeof key === 'string' &&
    typeof length === 'number' &&
    Number.isSafeInteger(receivedS) &&
    typeof status === 'number' &&
    status >= 100 &&
    status <= 999 &&
    isPairs(headers);
  return isWhole ? (said as Description) : undefined;
}

function isPairs(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length % 2 === 0 &&
    value.every((item) => typeof item === 'string')
  );
}

function mapOf(pairs: readonly string[]): HeaderMap {
  const map = new HeaderMap();
  for (let at = 0; at < pairs.length; at += 2) map.add(pairs[at] ?? '', pairs[at + 1] ?? '');
  return map;
}
