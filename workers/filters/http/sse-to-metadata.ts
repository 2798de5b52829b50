/**
 * Writes members of the JSON in server-sent events into dynamic metadata, while the events pass.
 * Source: envoy.filters.http.sse_to_metadata.
 */
import type { JsonEntry } from '../../../shared/resources/filters/http/json-to-metadata.ts';
import {
  SSE_TO_METADATA,
  type EventRule,
  type SseToMetadataFilterSettings,
} from '../../../shared/resources/filters/http/matching/sse-to-metadata.ts';
import { parseNested } from '../../../shared/json/parse-nested.ts';
import { dictionary, memberOf } from '../../../shared/text/dictionary.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
} from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { addMetadata } from '../common/add-metadata.ts';
import { EventReader } from '../common/event-reader.ts';
import { parseDouble } from '../common/number-text.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

type Stat = keyof typeof SSE_TO_METADATA.index;

interface SseParts {
  readonly rules: readonly EventRule[];
  readonly eventBytesMax: number;
  readonly count: (stat: Stat) => void;
}

const EVENT_TYPE = 'text/event-stream';

export function makeSseToMetadataFilter(
  { name, options }: SseToMetadataFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { stats, bufferLimitBytes } = context;
  const base = stats.defineBlock(SSE_TO_METADATA, 'sse_to_metadata.resp.json.');
  context.onBlock(base);
  const parts: SseParts = {
    rules: options.rules,
    eventBytesMax: options.eventBytesMax === 0 ? bufferLimitBytes : options.eventBytesMax,
    count: (stat) => stats.increment(base + SSE_TO_METADATA.index[stat]),
  };
  return { name, create: (callbacks) => new SseToMetadataFilter(parts, callbacks) };
}

class SseToMetadataFilter extends PassThroughFilter {
  readonly #parts: SseParts;
  readonly #callbacks: FilterCallbacks;
  #events: EventReader | undefined = undefined;
  /** Rules whose value some event had. */
  readonly #found = new Set<EventRule>();
  #hasData = false;
  #hasBadData = false;

  constructor(parts: SseParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { eventBytesMax, count } = this.#parts;
    this.#events = undefined;
    const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
    if (type !== EVENT_TYPE) count('mismatched_content_type');
    else if (!endStream) {
      this.#events = new EventReader(eventBytesMax, {
        onEvent: (data) => this.#read(data),
        onTooLarge: () => count('event_too_large'),
      });
    }
    return 'continue';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    this.#events?.add(data);
    if (endStream) this.#finish();
    return 'continue';
  }

  override encodeTrailers(): HeadersStatus {
    this.#finish();
    return 'continue';
  }

  #read(data: string | undefined): void {
    const { rules, count } = this.#parts;
    if (data === undefined) return count('no_data_field');
    this.#hasData = true;
    let value: unknown;
    try {
      value = parseNested(data);
    } catch {
      this.#hasBadData = true;
      return count('parse_error');
    }
    for (const each of rules) this.#apply(each, value);
  }

  #apply(each: EventRule, body: unknown): void {
    const { rule, takesFirst } = each;
    if (takesFirst && this.#found.has(each)) return;
    let value = body;
    for (const name of rule.path) value = memberOf(value, name);
    if (value === undefined || value === null) return;
    this.#found.add(each);
    const entry = rule.onPresent;
    if (entry === undefined) return;
    const written =
      entry.constant === undefined ? CONVERTERS[entry.type](value) : entry.constant.value;
    if (written !== undefined && this.#write(entry, written)) this.#parts.count('metadata_added');
  }

  /** What was in no event is written as missing, or as an error where one could not be read. */
  #finish(): void {
    const { rules, count } = this.#parts;
    if (this.#events === undefined) return;
    this.#events = undefined;
    if (!this.#hasData) return;
    for (const each of rules) {
      if (this.#found.has(each)) continue;
      const entry = this.#hasBadData ? each.rule.onError : each.rule.onMissing;
      if (entry?.constant === undefined) continue;
      if (this.#write(entry, entry.constant.value)) count('metadata_from_fallback');
    }
  }

  #write({ namespace, key, preserves }: JsonEntry, value: unknown): boolean {
    const { info } = this.#callbacks;
    const known = info.dynamicMetadata?.get(namespace);
    if (preserves && known !== undefined && Object.hasOwn(known, key)) {
      this.#parts.count('preserved_existing_metadata');
      return false;
    }
    addMetadata(info, namespace, dictionary([[key, value]]));
    return true;
  }
}

/** Undefined for what cannot be one of these; objects are written as their JSON. */
const CONVERTERS = {
  protobuf: (value: unknown) => (typeof value === 'object' ? objectText(value) : value),
  string: (value: unknown) => {
    if (typeof value === 'number') return numberText(value);
    if (typeof value === 'boolean') return value ? 'true' : 'false';
    return typeof value === 'string' ? value : objectText(value);
  },
  number: (value: unknown) => {
    if (typeof value === 'number') return value;
    if (typeof value === 'boolean') return value ? 1 : 0;
    return typeof value === 'string' ? parseDouble(value.trim()) : undefined;
  },
} satisfies Record<JsonEntry['type'], (value: unknown) => unknown>;

function objectText(value: unknown): string | undefined {
  return Array.isArray(value) ? undefined : JSON.stringify(value);
}

const INT64_END = 2 ** 63;
const DIGITS = 6;

/** Whole numbers of 64 bits as they are, others with six digits. */
function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < INT64_END) return BigInt(value).toString();
  const rounded = Number(value.toPrecision(DIGITS));
  const exponent = Math.floor(Math.log10(Math.abs(rounded)));
  if (exponent >= -4 && exponent < DIGITS) return String(rounded);
  return rounded.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
