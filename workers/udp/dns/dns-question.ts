/**
 * Questions of clients and the answers to them, as messages of RFC 1035. What is no question is told
 * as Envoy's counter for it.
 */
import { ipv6Groups } from '../../../shared/addresses/ip-groups.ts';
import { isIPv4 } from '../../../shared/addresses/ip-text.ts';
import type { DNS_FILTER } from '../../../shared/stats/templates/dns-filter.ts';

export const TYPE_A = 1;
export const TYPE_AAAA = 28;
export const TYPE_SRV = 33;
export const NO_ERROR = 0;
export const FORMAT_ERROR = 1;
export const NAME_UNKNOWN = 3;
export const NOT_IMPLEMENTED = 4;
const CLASS_IN = 1;
const HEAD_BYTES = 12;
const LABEL_BYTES_MAX = 63;
const NAME_BYTES_MAX = 255;
/** What an answer over UDP may have. */
const ANSWER_BYTES_MAX = 512;
/** Records of one answer, as in Envoy. */
const RECORDS_MAX = 8;
const IS_ANSWER = 0x8000;
/** What an answer repeats: what was asked for, and whether recursion is wanted. */
const REPEATED = 0x7900;
const RECURSION_AVAILABLE = 0x80;

export interface DnsQuestion {
  /** One character per byte. */
  readonly name: string;
  readonly type: number;
  readonly hasMore: boolean;
}

/** Why a message is no question; undefined: Envoy has no counter for it. */
type Fault = keyof typeof DNS_FILTER.index | undefined;

export type ReadQuestion =
  | { readonly kind: 'question'; readonly question: DnsQuestion }
  | { readonly kind: 'fault'; readonly fault: Fault };

export interface DnsRecord {
  readonly name: string;
  readonly type: number;
  readonly ttlS: number;
  readonly data: Buffer;
}

export function readQuestion(data: Buffer): ReadQuestion {
  if (data.length < HEAD_BYTES) return broken('query_buffer_underflow');
  const hasAnswers = data.readUInt16BE(6) > 0 || data.readUInt16BE(8) > 0;
  if ((data.readUInt16BE(2) & IS_ANSWER) !== 0 || hasAnswers) {
    return broken('queries_with_ans_or_authority_rrs');
  }
  if (data.readUInt16BE(4) !== 1) return broken(undefined);
  const read = readName(data, HEAD_BYTES);
  if (typeof read === 'string') return broken(read);
  const { name, end } = read;
  if (data.length < end + 4) return broken('query_parsing_failure');
  if (data.readUInt16BE(end + 2) !== CLASS_IN) return broken('query_parsing_failure');
  const type = data.readUInt16BE(end);
  return { kind: 'question', question: { name, type, hasMore: data.readUInt16BE(10) > 0 } };
}

function broken(fault: Fault): ReadQuestion {
  return { kind: 'fault', fault };
}

/** A name of questions has no pointers, because there is nothing before it. */
function readName(
  data: Buffer,
  start: number,
): { name: string; end: number } | 'query_parsing_failure' | 'record_name_overflow' {
  const labels: string[] = [];
  for (let at = start; at < data.length;) {
    const length = data[at] ?? 0;
    if (length === 0 && labels.length > 0) return { name: labels.join('.'), end: at + 1 };
    if (length === 0 || length > LABEL_BYTES_MAX) return 'query_parsing_failure';
    if (at + 1 + length - start > NAME_BYTES_MAX) return 'record_name_overflow';
    labels.push(data.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return 'query_parsing_failure';
}

export interface DnsAnswer {
  readonly code: number;
  /** Undefined where there was none that could be read. */
  readonly question: DnsQuestion | undefined;
  readonly records: readonly DnsRecord[];
  readonly additional: readonly DnsRecord[];
  readonly isRecursive: boolean;
}

/** The answer to this message: as many of the records as it may have. */
export function writeAnswer(asked: Buffer, answer: DnsAnswer): Buffer {
  const { code, question, isRecursive } = answer;
  const head = Buffer.alloc(HEAD_BYTES);
  if (asked.length >= 2) asked.copy(head, 0, 0, 2);
  const flags = asked.length < HEAD_BYTES ? 0 : asked.readUInt16BE(2) & REPEATED;
  head.writeUInt16BE(IS_ANSWER | flags | (isRecursive ? RECURSION_AVAILABLE : 0) | code, 2);
  const parts: Buffer[] = [head];
  let bytes = HEAD_BYTES;
  const add = (part: Buffer): boolean => {
    if (bytes + part.length > ANSWER_BYTES_MAX) return false;
    parts.push(part);
    bytes += part.length;
    return true;
  };
  if (question !== undefined) {
    add(Buffer.concat([writeName(question.name), words(question.type, CLASS_IN)]));
    head.writeUInt16BE(1, 4);
  }
  const addAll = (records: readonly DnsRecord[]): number => {
    const fitting = records.slice(0, RECORDS_MAX);
    const end = fitting.findIndex((record) => !add(writeRecord(record)));
    return end === -1 ? fitting.length : end;
  };
  head.writeUInt16BE(addAll(answer.records), 6);
  head.writeUInt16BE(addAll(answer.additional), 10);
  return Buffer.concat(parts);
}

function writeRecord({ name, type, ttlS, data }: DnsRecord): Buffer {
  const ttl = Buffer.alloc(4);
  ttl.writeUInt32BE(ttlS);
  return Buffer.concat([writeName(name), words(type, CLASS_IN), ttl, words(data.length), data]);
}

/** A label that is longer than labels may be is cut: only tables have such. */
function writeName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  const parts = labels.map((label) => {
    const bytes = Buffer.from(label, 'latin1').subarray(0, LABEL_BYTES_MAX);
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  });
  return Buffer.concat([...parts, Buffer.from([0])]);
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

export function addressRecord(name: string, ttlS: number, address: string): DnsRecord {
  if (isIPv4(address)) {
    return { name, type: TYPE_A, ttlS, data: Buffer.from(address.split('.').map(Number)) };
  }
  return { name, type: TYPE_AAAA, ttlS, data: words(...ipv6Groups(address)) };
}

export function serviceRecord(
  name: string,
  ttlS: number,
  target: {
    readonly name: string;
    readonly priority: number;
    readonly weight: number;
    readonly port: number;
  },
): DnsRecord {
  const { priority, weight, port } = target;
  const data = Buffer.concat([words(priority, weight, port), writeName(target.name)]);
  return { name, type: TYPE_SRV, ttlS, data };
}
