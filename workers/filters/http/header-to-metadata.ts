/**
 * Writes headers and cookies of requests and responses into dynamic metadata, which access logs,
 * matchers and other filters read. Source: envoy.filters.http.header_to_metadata.
 */
import { isUtf8 } from 'node:buffer';
import { makeRegexRunner } from '../../../shared/regex/run-regex.ts';
import {
  HEADER_TO_METADATA,
  type HeaderToMetadataFilterSettings,
  type HeaderToMetadataOptions,
  type HeaderToMetadataRule,
  type MetadataEntry,
} from '../../../shared/resources/filters/http/header-to-metadata.ts';
import { dictionary, type MutableDictionary } from '../../../shared/text/dictionary.ts';
import { cookieValue } from '../../stream/cookies.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { addMetadata } from '../common/add-metadata.ts';
import { decodeBase64, parseDouble } from '../common/number-text.ts';
import { readValue } from '../../../shared/protobuf/struct-message.ts';
import { CompiledSettings, type FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

/** Longer values are not kept. */
const VALUE_BYTES_MAX = 8 * 1024 - 1;

type Count = (name: keyof typeof HEADER_TO_METADATA.index) => void;

/** What a rule makes of a value, which is a byte string; undefined: nothing is written. */
interface CompiledEntry {
  readonly namespace: string;
  readonly key: string;
  readonly valueOf: (text: string) => { readonly value: unknown } | undefined;
}

interface CompiledRule {
  readonly source: HeaderToMetadataRule['source'];
  readonly onPresent: CompiledEntry | undefined;
  readonly onMissing: CompiledEntry | undefined;
}

interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  readonly countRule: () => void;
  readonly countMissing: () => void;
  readonly countAdded: () => void;
}

interface CompiledOptions {
  readonly request: CompiledRules;
  readonly response: CompiledRules;
}

export function makeHeaderToMetadataFilter(
  { name, options: own }: HeaderToMetadataFilterSettings,
  context: FilterContext,
): FilterFactory {
  const compiled = new CompiledSettings((options: HeaderToMetadataOptions) =>
    compileOptions(options, counterOf(options, context)),
  );
  compiled.of(own);
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as HeaderToMetadataOptions | undefined;
      return new HeaderToMetadataFilter(compiled.of(ofRoute ?? own), callbacks);
    },
  };
}

/** Writes what the rules for requests say; nothing is counted. */
export function headerMetadataWriter(
  options: HeaderToMetadataOptions,
): (headers: HeaderMap, info: StreamInfo) => void {
  const { request } = compileOptions(options, () => undefined);
  return (headers, info) => writeMetadata(headers, request, info);
}

function counterOf({ statPrefix }: HeaderToMetadataOptions, context: FilterContext): Count {
  if (statPrefix === '') return () => undefined;
  const { stats } = context;
  const base = stats.defineBlock(HEADER_TO_METADATA, `http_filter_name.${statPrefix}.`);
  context.onBlock(base);
  return (name) => stats.increment(base + HEADER_TO_METADATA.index[name]);
}

function compileOptions(options: HeaderToMetadataOptions, count: Count): CompiledOptions {
  const { requestRules, responseRules } = options;
  return {
    request: {
      rules: requestRules.map((rule) => compileRule(rule, count)),
      countRule: () => count('request_rules_processed'),
      countMissing: () => count('request_header_not_found'),
      countAdded: () => count('request_metadata_added'),
    },
    response: {
      rules: responseRules.map((rule) => compileRule(rule, count)),
      countRule: () => count('response_rules_processed'),
      countMissing: () => count('response_header_not_found'),
      countAdded: () => count('response_metadata_added'),
    },
  };
}

function compileRule(rule: HeaderToMetadataRule, count: Count): CompiledRule {
  const { source, onPresent, onMissing } = rule;
  return {
    source,
    onPresent: onPresent && compileEntry(onPresent, count),
    onMissing: onMissing && compileEntry(onMissing, count),
  };
}

function compileEntry(entry: MetadataEntry, count: Count): CompiledEntry {
  const { namespace, key, value, rewrite, type, isBase64 } = entry;
  const runner = rewrite && makeRegexRunner(rewrite.regex);
  const typed = TYPES[type];
  const valueOf = (text: string): ReturnType<typeof typed> => {
    let written = value ?? text;
    if (runner !== undefined) written = runner.replaceAll(text, rewrite?.substitution ?? '');
    if (written === '' && text !== '') count('regex_substitution_failed');
    if (written === '') return undefined;
    if (written.length > VALUE_BYTES_MAX) {
      count('header_value_too_long');
      return undefined;
    }
    if (!isBase64) return typed(Buffer.from(written, 'latin1'));
    const bytes = decodeBase64(written);
    if (bytes === undefined) count('base64_decode_failed');
    return bytes && typed(bytes);
  };
  return { namespace, key, valueOf };
}

const TYPES = {
  // Texts of metadata are UTF-8; bytes that are not stand for the characters of their numbers.
  string: (bytes: Buffer) => ({ value: bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1') }),
  number: (bytes: Buffer) => {
    const value = parseDouble(bytes.toString('latin1'));
    return value === undefined ? undefined : { value };
  },
  protobuf: readValue,
} satisfies Record<
  MetadataEntry['type'],
  (bytes: Buffer) => { readonly value: unknown } | undefined
>;

class HeaderToMetadataFilter extends PassThroughFilter {
  readonly #options: CompiledOptions;
  readonly #callbacks: FilterCallbacks;

  constructor(options: CompiledOptions, callbacks: FilterCallbacks) {
    super();
    this.#options = options;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    writeMetadata(headers, this.#options.request, this.#callbacks.info);
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    writeMetadata(headers, this.#options.response, this.#callbacks.info);
    return 'continue';
  }
}

/** All rules take effect at once: none sees what another one has written. */
function writeMetadata(headers: HeaderMap, compiled: CompiledRules, info: StreamInfo): void {
  let written: Map<string, MutableDictionary<unknown>> | undefined;
  for (const { source, onPresent, onMissing } of compiled.rules) {
    compiled.countRule();
    const text = textAt(headers, source);
    const entry = text === undefined ? onMissing : onPresent;
    if (entry === undefined) continue;
    if (text === undefined) compiled.countMissing();
    const made = entry.valueOf(text ?? '');
    if (made === undefined) continue;
    compiled.countAdded();
    written ??= new Map();
    let members = written.get(entry.namespace);
    if (members === undefined) written.set(entry.namespace, (members = dictionary<unknown>()));
    members[entry.key] = made.value;
  }
  if (written === undefined) return;
  for (const [namespace, members] of written) addMetadata(info, namespace, members);
}

/** Undefined when it is missing; an empty cookie counts as missing, an empty header does not. */
function textAt(headers: HeaderMap, source: HeaderToMetadataRule['source']): string | undefined {
  if (source.kind === 'cookie') return cookieValue(headers, source.name) || undefined;
  const text = headers.getAll(source.name);
  if (text !== undefined && source.removes) headers.remove(source.name);
  return text;
}
