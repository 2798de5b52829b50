/** The context of B3, in several headers or in one: reads it as strictly as Envoy does. */
import type { HeaderMap } from '../../stream/header-map.ts';
import { isAllZeros } from '../span-ids.ts';

const SINGLE = 'b3';
const TRACE_ID = 'x-b3-traceid';
const SPAN_ID = 'x-b3-spanid';
const PARENT_ID = 'x-b3-parentspanid';
const SAMPLED = 'x-b3-sampled';

/** 64 bits as digits; shorter ones are filled up. */
const ID = /^[0-9a-f]{1,16}$/i;
const ID_128 = /^[0-9a-f]{32}$/i;
const SINGLE_FORM =
  /^(?<trace>[0-9a-f]{32}|[0-9a-f]{16})-(?<span>[0-9a-f]{16})(?:-(?<sampled>[01d])(?:-(?<parent>[0-9a-f]{16}))?)?$/i;

export interface B3Ids {
  /** 16 or 32 digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentId: string;
}

/** `ids` undefined: a new trace; `sampled` undefined: nobody has decided. */
export interface B3Context {
  readonly ids: B3Ids | undefined;
  readonly sampled: boolean | undefined;
  readonly isSingle: boolean;
}

/** `broken`: the headers pass as they are. */
export function readB3Context(headers: HeaderMap): B3Context | 'broken' {
  const single = headers.get(SINGLE);
  return single === undefined ? readSeveral(headers) : readSingle(single);
}

function readSingle(text: string): B3Context | 'broken' {
  if (/^[01d]$/.test(text)) return { ids: undefined, sampled: text !== '0', isSingle: true };
  const groups = SINGLE_FORM.exec(text)?.groups;
  if (groups === undefined) return 'broken';
  const { trace = '', span = '', sampled, parent = '' } = groups;
  return {
    ids: { traceId: trace, spanId: span, parentId: parent },
    sampled: sampled === undefined ? undefined : sampled !== '0',
    isSingle: true,
  };
}

function readSeveral(headers: HeaderMap): B3Context | 'broken' {
  const decision = headers.get(SAMPLED);
  const sampled = decision === undefined ? undefined : decision === '1' || decision === 'true';
  const trace = headers.get(TRACE_ID);
  const span = headers.get(SPAN_ID);
  if (trace === undefined || span === undefined) {
    return { ids: undefined, sampled, isSingle: false };
  }
  const parent = headers.get(PARENT_ID) ?? '';
  const isWhole = ID.test(trace) || ID_128.test(trace);
  if (!isWhole || !ID.test(span) || (parent !== '' && !ID.test(parent))) return 'broken';
  const ids = { traceId: traceDigits(trace), spanId: padded(span), parentId: parentDigits(parent) };
  return { ids, sampled, isSingle: false };
}

/** Whatever is not set is left as it was sent. */
export function writeB3Context(
  headers: HeaderMap,
  { traceId, spanId, parentId }: B3Ids,
  isSampled: boolean,
  isSingle: boolean,
): void {
  const sampled = isSampled ? '1' : '0';
  if (isSingle) {
    const parent = parentId === '' ? '' : `-${parentId}`;
    headers.set(SINGLE, `${traceId}-${spanId}-${sampled}${parent}`);
    return;
  }
  headers.set(TRACE_ID, traceId);
  headers.set(SPAN_ID, spanId);
  if (parentId !== '') headers.set(PARENT_ID, parentId);
  headers.set(SAMPLED, sampled);
}

/** No parent is the same as one whose id is zero. */
function parentDigits(id: string): string {
  return id === '' || isAllZeros(id) ? '' : padded(id);
}

function padded(id: string): string {
  return id.toLowerCase().padStart(16, '0');
}

function traceDigits(id: string): string {
  const lower = id.toLowerCase();
  if (lower.length === 32) return lower.startsWith('0000000000000000') ? lower.slice(16) : lower;
  return padded(lower);
}
