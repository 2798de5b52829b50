/** `traceparent` and `tracestate`: reads them as Envoy does, which is more lenient than W3C. */
import type { HeaderMap } from '../stream/header-map.ts';
import { isAllZeros } from './span-ids.ts';

const TRACEPARENT = 'traceparent';
const TRACESTATE = 'tracestate';
const FORM = /^[0-9a-f]{2}-(?<trace>[0-9a-f]{32})-(?<parent>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/i;
/** The limit of what a client may have carried along; longer ones are cut off. */
const TRACESTATE_LENGTH_MAX = 8192;

export interface W3cContext {
  readonly traceId: string;
  readonly parentId: string;
  readonly isSampled: boolean;
  readonly state: string;
}

export function hasW3cContext(headers: HeaderMap): boolean {
  return headers.has(TRACEPARENT);
}

/** Undefined where it is malformed. Every version is read as the first. */
export function readW3cContext(headers: HeaderMap): W3cContext | undefined {
  const groups = FORM.exec(headers.get(TRACEPARENT) ?? '')?.groups;
  if (groups === undefined) return undefined;
  const { trace: traceId = '', parent: parentId = '', flags = '' } = groups;
  if (isAllZeros(traceId) || isAllZeros(parentId)) return undefined;
  return {
    traceId,
    parentId,
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    state: (headers.getAll(TRACESTATE) ?? '').slice(0, TRACESTATE_LENGTH_MAX),
  };
}

export function writeTraceparent(
  headers: HeaderMap,
  { traceId, spanId, isSampled }: { traceId: string; spanId: string; isSampled: boolean },
): void {
  const whole = traceId.padStart(32, '0');
  headers.set(TRACEPARENT, `00-${whole}-${spanId}-${isSampled ? '01' : '00'}`);
}

export function writeTracestate(headers: HeaderMap, state: string): void {
  headers.set(TRACESTATE, state);
}
