/**
 * Writes members of JSON bodies into dynamic metadata. Source: envoy.filters.http.json_to_metadata.
 * A message is held until its body is there; the stream's buffer limits hold for that.
 */
import { CollectedBytes } from '../../../shared/bytes/collected-bytes.ts';
import { makeRegexRunner } from '../../../shared/regex/run-regex.ts';
import {
  JSON_TO_METADATA,
  type JsonEntry,
  type JsonRule,
  type JsonRules,
  type JsonToMetadataFilterSettings,
  type JsonToMetadataOptions,
} from '../../../shared/resources/filters/http/json-to-metadata.ts';
import { dictionary, memberOf } from '../../../shared/text/dictionary.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { addMetadata } from '../common/add-metadata.ts';
import { parseDouble } from '../common/number-text.ts';
import { CompiledSettings, type FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

type Stat = keyof typeof JSON_TO_METADATA.index;

/** The rules of requests or of responses. */
interface CompiledRules {
  readonly rules: readonly JsonRule[];
  allowsType(type: string): boolean;
  count(stat: Stat): void;
}

interface CompiledOptions {
  readonly request: CompiledRules | undefined;
  readonly response: CompiledRules | undefined;
}

export function makeJsonToMetadataFilter(
  { name, options: own }: JsonToMetadataFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { stats } = context;
  const counter = (direction: string): ((stat: Stat) => void) => {
    const base = stats.defineBlock(JSON_TO_METADATA, `json_to_metadata.${direction}.`);
    context.onBlock(base);
    return (stat) => stats.increment(base + JSON_TO_METADATA.index[stat]);
  };
  const [countRequest, countResponse] = [counter('rq'), counter('resp')];
  const compiled = new CompiledSettings(
    ({ request, response }: JsonToMetadataOptions): CompiledOptions => ({
      request: request && compileRules(request, countRequest),
      response: response && compileRules(response, countResponse),
    }),
  );
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as JsonToMetadataOptions | undefined;
      return new JsonToMetadataFilter(compiled.of(ofRoute ?? own), callbacks);
    },
  };
}

function compileRules(rules: JsonRules, count: CompiledRules['count']): CompiledRules {
  const types = new Set(rules.contentTypes);
  const regex = rules.contentTypeRegex && makeRegexRunner(rules.contentTypeRegex);
  return {
    rules: rules.rules,
    allowsType: (type) =>
      type === '' ? rules.allowsEmptyType : types.has(type) || regex?.test(type) === true,
    count,
  };
}

/** A body while it comes. */
class Body {
  readonly rules: CompiledRules;
  readonly bytes = new CollectedBytes();

  constructor(rules: CompiledRules) {
    this.rules = rules;
  }
}

class JsonToMetadataFilter extends PassThroughFilter {
  readonly #options: CompiledOptions;
  readonly #callbacks: FilterCallbacks;
  /** Undefined when there is nothing to wait for. */
  #request: Body | undefined = undefined;
  #response: Body | undefined = undefined;

  constructor(options: CompiledOptions, callbacks: FilterCallbacks) {
    super();
    this.#options = options;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { request: rules } = this.#options;
    if (rules !== undefined && this.#begins(rules, headers, endStream, true)) {
      this.#request = new Body(rules);
    }
    return this.#request === undefined ? 'continue' : 'stop';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    const body = this.#request;
    if (body === undefined) return 'continue';
    body.bytes.add(Buffer.from(data));
    if (!endStream) return 'stop_and_buffer';
    this.#finishRequest();
    return 'continue';
  }

  override decodeTrailers(): TrailersStatus {
    this.#finishRequest();
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { response: rules } = this.#options;
    if (rules !== undefined && this.#begins(rules, headers, endStream, false)) {
      this.#response = new Body(rules);
    }
    return this.#response === undefined ? 'continue' : 'stop';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    const body = this.#response;
    if (body === undefined) return 'continue';
    body.bytes.add(Buffer.from(data));
    if (!endStream) return 'stop_and_buffer';
    this.#finishResponse();
    return 'continue';
  }

  override encodeTrailers(): TrailersStatus {
    this.#finishResponse();
    return 'continue';
  }

  /** Whether there is a body to wait for. */
  #begins(
    rules: CompiledRules,
    headers: HeaderMap,
    endStream: boolean,
    isRequest: boolean,
  ): boolean {
    if (!rules.allowsType(headers.get('content-type') ?? '')) {
      rules.count('mismatched_content_type');
      this.#write(
        rules.rules.map(({ onError }) => constantOf(onError)),
        isRequest,
      );
      return false;
    }
    if (endStream) this.#readBody(rules, Buffer.alloc(0), isRequest);
    return !endStream;
  }

  #finishRequest(): void {
    const body = this.#request;
    this.#request = undefined;
    if (body !== undefined) this.#readBody(body.rules, body.bytes.joined(), true);
  }

  #finishResponse(): void {
    const body = this.#response;
    this.#response = undefined;
    if (body !== undefined) this.#readBody(body.rules, body.bytes.joined(), false);
  }

  #readBody(rules: CompiledRules, bytes: Buffer, isRequest: boolean): void {
    if (bytes.length === 0) {
      rules.count('no_body');
      this.#write(
        rules.rules.map(({ onMissing }) => constantOf(onMissing)),
        isRequest,
      );
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(bytes.toString()) as unknown;
    } catch {
      rules.count('invalid_json_body');
      this.#write(
        rules.rules.map(({ onError }) => constantOf(onError)),
        isRequest,
      );
      return;
    }
    rules.count('success');
    this.#write(
      rules.rules.map((rule) => writtenBy(rule, value)),
      isRequest,
    );
  }

  /** A request whose metadata changed may take another route. */
  #write(entries: readonly (Written | undefined)[], isRequest: boolean): void {
    const { info } = this.#callbacks;
    let wrote = false;
    for (const entry of entries) {
      if (entry === undefined) continue;
      const { namespace, key, preserves, value } = entry;
      const known = info.dynamicMetadata?.get(namespace);
      if (preserves && known !== undefined && Object.hasOwn(known, key)) continue;
      addMetadata(info, namespace, dictionary([[key, value]]));
      wrote = true;
    }
    if (wrote && isRequest) this.#callbacks.clearRoute();
  }
}

interface Written extends Pick<JsonEntry, 'namespace' | 'key' | 'preserves'> {
  readonly value: unknown;
}

function constantOf(entry: JsonEntry | undefined): Written | undefined {
  return entry?.constant && { ...entry, value: entry.constant.value };
}

function writtenBy({ path, onPresent, onMissing }: JsonRule, body: unknown): Written | undefined {
  const found = memberAt(body, path);
  if (found === undefined || found === null) return constantOf(onMissing);
  if (onPresent === undefined) return undefined;
  if (onPresent.constant !== undefined) return constantOf(onPresent);
  if (onPresent.type === 'string' && found === '') return undefined;
  const value = CONVERTERS[onPresent.type](found);
  return value === undefined ? constantOf(onMissing) : { ...onPresent, value };
}

/** As Envoy, which finds every name in a list that is the whole body, but no value. */
function memberAt(body: unknown, path: readonly string[]): unknown {
  if (Array.isArray(body) && path.length === 1) return body;
  let value = body;
  for (const name of path) value = memberOf(value, name);
  return value;
}

/** Undefined for what cannot be one of these. */
const CONVERTERS = {
  protobuf: (value: unknown) => (typeof value === 'object' ? undefined : value),
  string: (value: unknown) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'boolean') return value ? '1' : '0';
    return typeof value === 'number' ? numberText(value) : undefined;
  },
  number: (value: unknown) => {
    if (typeof value === 'number') return value;
    if (typeof value === 'boolean') return value ? 1 : 0;
    return typeof value === 'string' ? parseDouble(value) : undefined;
  },
} satisfies Record<JsonEntry['type'], (value: unknown) => unknown>;

const FRACTION_DIGITS = 6;
const INT64_END = 2 ** 63;

/** Whole numbers of 64 bits as they are, all others with six digits behind the point. */
function numberText(value: number): string {
  if (!Number.isInteger(value)) return value.toFixed(FRACTION_DIGITS);
  const whole = BigInt(value).toString();
  return Math.abs(value) < INT64_END ? whole : `${whole}.${'0'.repeat(FRACTION_DIGITS)}`;
}
