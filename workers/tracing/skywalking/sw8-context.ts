/** The context of SkyWalking: the header `sw8`. */
import type { HeaderMap } from '../../stream/header-map.ts';

const NAME = 'sw8';
const FIELDS = 8;
/** The limit of the header as it came. */
const LENGTH_MAX = 8192;

export interface Sw8Context {
  readonly isSampled: boolean;
  readonly traceId: string;
  readonly segmentId: string;
  readonly spanId: number;
  readonly service: string;
  readonly instance: string;
  readonly endpoint: string;
  readonly address: string;
}

/** `absent` where there is no header; undefined where it is broken. */
export function readSw8(headers: HeaderMap): Sw8Context | 'absent' | undefined {
  const text = headers.get(NAME);
  if (text === undefined) return 'absent';
  const fields = text.split('-');
  if (text.length > LENGTH_MAX || fields.length !== FIELDS) return undefined;
  const [sample, trace, segment, span = '', service, instance, endpoint, address] = fields;
  if ((sample !== '0' && sample !== '1') || !/^\d{1,9}$/.test(span)) return undefined;
  return {
    isSampled: sample === '1',
    traceId: decoded(trace),
    segmentId: decoded(segment),
    spanId: Number(span),
    service: decoded(service),
    instance: decoded(instance),
    endpoint: decoded(endpoint),
    address: decoded(address),
  };
}

export function writeSw8(headers: HeaderMap, context: Sw8Context): void {
  const { traceId, segmentId, spanId, service, instance, endpoint, address } = context;
  const fields = [
    context.isSampled ? '1' : '0',
    encoded(traceId),
    encoded(segmentId),
    String(spanId),
    encoded(service),
    encoded(instance),
    encoded(endpoint),
    encoded(address),
  ];
  headers.set(NAME, fields.join('-'));
}

function decoded(text = ''): string {
  return Buffer.from(text, 'base64').toString('latin1');
}

function encoded(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64');
}
