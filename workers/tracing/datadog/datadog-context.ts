/** The context of Datadog: its own headers, else those of W3C with Datadog's part of the state. */
import type { HeaderMap } from '../../stream/header-map.ts';
import {
  hasW3cContext,
  readW3cContext,
  writeTraceparent,
  writeTracestate,
} from '../w3c-context.ts';

const TRACE_ID = 'x-datadog-trace-id';
const PARENT_ID = 'x-datadog-parent-id';
const PRIORITY = 'x-datadog-sampling-priority';
const TAGS = 'x-datadog-tags';
const ORIGIN = 'x-datadog-origin';

/** A decimal of 64 bits has at most so many digits. */
const DECIMAL = /^\d{1,20}$/;
const MAX_64 = 2n ** 64n - 1n;
/** Datadog's own limit on what is carried along. */
const TAGS_LENGTH_MAX = 512;
const MEMBERS_MAX = 32;
/** The limit of Datadog's member of the state, with its name. */
const OWN_MEMBER_MAX = 256;
const NOT_IN_STATE = /[^\x20-\x7e]|[,;~]/g;

export interface DatadogContext {
  readonly traceLow: bigint;
  /** 16 digits; empty: the trace has an id of 64 bits. */
  readonly traceHigh: string;
  /** Undefined: nobody has decided. */
  readonly priority: number | undefined;
  readonly parentId: bigint;
  /** `_dd.p.` tags that go along, without `_dd.p.tid`. */
  readonly tags: readonly (readonly [name: string, value: string])[];
  readonly origin: string;
  /** Members of the state that are others'. */
  readonly otherState: string;
}

/** Undefined: there is none that can be used. */
export function readDatadogContext(headers: HeaderMap): DatadogContext | undefined {
  return readOwn(headers) ?? (hasW3cContext(headers) ? readW3c(headers) : undefined);
}

function readOwn(headers: HeaderMap): DatadogContext | undefined {
  const traceLow = decimal(headers.get(TRACE_ID));
  const parentId = decimal(headers.get(PARENT_ID)) ?? 0n;
  if (traceLow === undefined || traceLow === 0n) return undefined;
  const all = readTags(headers.get(TAGS) ?? '');
  const high = all.find(([name]) => name === '_dd.p.tid')?.[1] ?? '';
  return {
    traceLow,
    parentId,
    traceHigh: /^[0-9a-f]{16}$/.test(high) ? high : '',
    priority: integer(headers.get(PRIORITY)),
    tags: all.filter(([name]) => name.startsWith('_dd.p.') && name !== '_dd.p.tid'),
    origin: headers.get(ORIGIN) ?? '',
    otherState: '',
  };
}

function readW3c(headers: HeaderMap): DatadogContext | undefined {
  const w3c = readW3cContext(headers);
  if (w3c === undefined) return undefined;
  const high = w3c.traceId.slice(0, 16).toLowerCase();
  const members = w3c.state
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  const own = members.find((member) => member.startsWith('dd='))?.slice(3) ?? '';
  const fields = own.split(';').slice(0, MEMBERS_MAX);
  const value = (prefix: string): string | undefined =>
    fields.find((field) => field.startsWith(prefix))?.slice(prefix.length);
  const stated = integer(value('s:'));
  const isStatedSampled = stated !== undefined && stated > 0;
  return {
    traceLow: BigInt(`0x${w3c.traceId.slice(16)}`),
    traceHigh: high === '0000000000000000' ? '' : high,
    parentId: BigInt(`0x${w3c.parentId}`),
    priority: isStatedSampled === w3c.isSampled ? (stated ?? 0) : Number(w3c.isSampled),
    tags: fields
      .filter((field) => field.startsWith('t.'))
      .map((field): readonly [string, string] => {
        const at = field.indexOf(':');
        return [`_dd.p.${field.slice(2, at)}`, field.slice(at + 1).replaceAll('~', '=')];
      }),
    origin: value('o:') ?? '',
    otherState: members
      .filter((member) => !member.startsWith('dd='))
      .slice(0, MEMBERS_MAX - 1)
      .join(','),
  };
}

export interface DatadogPlace extends Omit<DatadogContext, 'parentId' | 'priority'> {
  readonly spanId: bigint;
  readonly priority: number;
}

export function writeDatadogContext(headers: HeaderMap, place: DatadogPlace): void {
  const { traceLow, traceHigh, spanId, priority, tags, origin, otherState } = place;
  const isSampled = priority > 0;
  headers.set(TRACE_ID, String(traceLow));
  headers.set(PARENT_ID, String(spanId));
  headers.set(PRIORITY, String(priority));
  if (origin !== '') headers.set(ORIGIN, origin);
  const told = traceHigh === '' ? tags : [['_dd.p.tid', traceHigh] as const, ...tags];
  const text = told.map(([name, value]) => `${name}=${value}`).join(',');
  if (text !== '' && text.length <= TAGS_LENGTH_MAX) headers.set(TAGS, text);
  else headers.remove(TAGS);
  const traceId = traceHigh + hex64(traceLow);
  writeTraceparent(headers, { traceId, spanId: hex64(spanId), isSampled });
  const fields = [
    `s:${priority}`,
    `p:${hex64(spanId)}`,
    ...(origin === '' ? [] : [`o:${inState(origin)}`]),
    ...tags.map(([name, value]) => `t.${inState(name.slice(6))}:${inState(value)}`),
  ];
  const own = ownMember(fields);
  writeTracestate(headers, otherState === '' ? own : `${own},${otherState}`);
}

/** As many of the fields as fit into what Datadog permits its member. */
function ownMember(fields: readonly string[]): string {
  let member = '';
  for (const field of fields) {
    const longer = member === '' ? `dd=${field}` : `${member};${field}`;
    if (longer.length <= OWN_MEMBER_MAX) member = longer;
  }
  return member;
}

/** A text from outside must not end its field or the member that it stands in. */
function inState(text: string): string {
  return text.replaceAll(NOT_IN_STATE, '_').replaceAll('=', '~');
}

export function hex64(id: bigint): string {
  return id.toString(16).padStart(16, '0');
}

function decimal(text: string | undefined): bigint | undefined {
  if (text === undefined || !DECIMAL.test(text)) return undefined;
  const value = BigInt(text);
  return value > MAX_64 ? undefined : value;
}

function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function readTags(text: string): readonly (readonly [string, string])[] {
  if (text.length > TAGS_LENGTH_MAX) return [];
  return text.split(',').flatMap((pair): (readonly [string, string])[] => {
    const at = pair.indexOf('=');
    return at <= 0 ? [] : [[pair.slice(0, at), pair.slice(at + 1)]];
  });
}
