/**
 * Writes what the Thrift messages in bodies say into dynamic metadata. Source:
 * envoy.filters.http.thrift_to_metadata.
 */
import { CollectedBytes } from '../../../shared/bytes/collected-bytes.ts';
import {
  THRIFT_TO_METADATA,
  type ThriftEntry,
  type ThriftFact,
  type ThriftRule,
  type ThriftToMetadataFilterSettings,
  type ThriftToMetadataOptions,
} from '../../../shared/resources/filters/http/matching/thrift-to-metadata.ts';
import { readThriftMessage, type ThriftMessage } from '../../../shared/thrift/thrift-message.ts';
import { ThriftError, type ThriftValue } from '../../../shared/thrift/thrift-reader.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
} from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { ThriftFields, writeThriftEntry } from '../common/thrift-fields.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

type Stat = keyof typeof THRIFT_TO_METADATA.index;

interface Side {
  readonly rules: readonly ThriftRule[];
  readonly count: (stat: Stat) => void;
}

interface ThriftParts {
  readonly options: ThriftToMetadataOptions;
  readonly request: Side;
  readonly response: Side;
}

const MESSAGE_TYPES = ['', 'call', 'reply', 'exception', 'oneway'];

export function makeThriftToMetadataFilter(
  { name, options }: ThriftToMetadataFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { stats } = context;
  const side = (rules: readonly ThriftRule[], of: string): Side => {
    const base = stats.defineBlock(THRIFT_TO_METADATA, `thrift_to_metadata.${of}.`);
    context.onBlock(base);
    return { rules, count: (stat) => stats.increment(base + THRIFT_TO_METADATA.index[stat]) };
  };
  const request = side(options.requestRules, 'rq');
  const response = side(options.responseRules, 'resp');
  const parts = { options, request, response };
  return { name, create: (callbacks) => new ThriftToMetadataFilter(parts, callbacks) };
}

class ThriftToMetadataFilter extends PassThroughFilter {
  readonly #parts: ThriftParts;
  readonly #callbacks: FilterCallbacks;
  /** Bodies while they come; undefined when there is nothing to wait for. */
  #request: CollectedBytes | undefined = undefined;
  #response: CollectedBytes | undefined = undefined;

  constructor(parts: ThriftParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (!this.#begins(this.#parts.request, headers, endStream)) return 'continue';
    this.#request = new CollectedBytes();
    return 'stop';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    const body = this.#request;
    if (body === undefined) return 'continue';
    body.addCopy(data);
    if (!endStream) return 'stop_and_buffer';
    this.#finishRequest();
    return 'continue';
  }

  override decodeTrailers(): HeadersStatus {
    this.#finishRequest();
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (!this.#begins(this.#parts.response, headers, endStream)) return 'continue';
    this.#response = new CollectedBytes();
    return 'stop';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    const body = this.#response;
    if (body === undefined) return 'continue';
    body.addCopy(data);
    if (!endStream) return 'stop_and_buffer';
    this.#finishResponse();
    return 'continue';
  }

  override encodeTrailers(): HeadersStatus {
    this.#finishResponse();
    return 'continue';
  }

  /** Whether there is a body to wait for. */
  #begins(side: Side, headers: HeaderMap, endStream: boolean): boolean {
    if (side.rules.length === 0) return false;
    const { contentTypes, allowsNoContentType } = this.#parts.options;
    const type = headers.get('content-type') ?? '';
    if (type === '' ? !allowsNoContentType : !contentTypes.includes(type)) {
      side.count('mismatched_content_type');
      return false;
    }
    if (!endStream) return true;
    this.#none(side);
    return false;
  }

  #finishRequest(): void {
    if (this.#request !== undefined) this.#read(this.#parts.request, this.#request);
    this.#request = undefined;
  }

  #finishResponse(): void {
    if (this.#response !== undefined) this.#read(this.#parts.response, this.#response);
    this.#response = undefined;
  }

  #read(side: Side, body: CollectedBytes): void {
    const bytes = body.joined();
    if (bytes.length === 0) {
      this.#none(side);
      return;
    }
    const { transport, protocol } = this.#parts.options;
    let message: ThriftMessage;
    try {
      message = readThriftMessage(bytes, transport, protocol);
    } catch (error) {
      if (!(error instanceof ThriftError || error instanceof RangeError)) throw error;
      side.count('invalid_thrift_body');
      for (const { onMissing } of side.rules) this.#write(onMissing, undefined);
      return;
    }
    side.count('success');
    const { rules } = side;
    const wanted = rules.filter(({ method }) => isOfMethod(message.name, method));
    const found = new ThriftFields(message, wanted);
    for (const { source, onPresent, onMissing } of wanted) {
      const value =
        source.kind === 'fact'
          ? FACTS[source.fact](message, found)
          : found.values.get(source.path.join('.'));
      if (value === undefined) this.#write(onMissing, undefined);
      else if (value !== '') this.#write(onPresent, value);
    }
  }

  #none(side: Side): void {
    side.count('no_body');
    for (const { onMissing } of side.rules) this.#write(onMissing, undefined);
  }

  #write(entry: ThriftEntry | undefined, value: ThriftValue | undefined): void {
    writeThriftEntry(this.#callbacks.info, entry, value);
  }
}

/** The method may be named without its service. */
function isOfMethod(name: string, method: string): boolean {
  return method === '' || name.slice(name.indexOf(':') + 1) === method;
}

const FACTS: Readonly<
  Record<ThriftFact, (message: ThriftMessage, fields: ThriftFields) => ThriftValue | undefined>
> = {
  METHOD_NAME: ({ name }) => name,
  PROTOCOL: ({ protocol }) => protocol,
  TRANSPORT: ({ transport }) => transport,
  HEADER_FLAGS: ({ headerFlags }) => headerFlags,
  SEQUENCE_ID: ({ sequence }) => sequence,
  MESSAGE_TYPE: ({ type }) => MESSAGE_TYPES[type],
  REPLY_TYPE: (_, { isSuccess }) =>
    isSuccess === undefined ? undefined : isSuccess ? 'success' : 'error',
};
