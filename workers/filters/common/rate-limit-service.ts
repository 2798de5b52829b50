/**
 * Asks a rate limit service: writes envoy.service.ratelimit.v3.RateLimitRequest and reads its
 * response. Texts have one character per byte.
 */
import type { RateLimitEntry } from '../../../shared/resources/routes/rate-limits.ts';
import type { Struct } from '../../../shared/text/dictionary.ts';
import {
  type ProtoField,
  readMessage,
  visitFields,
} from '../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import { readStruct } from '../../../shared/protobuf/struct-message.ts';
import type { GrpcRequest, GrpcService } from '../../services/grpc-services.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { repairUtf8 } from '../../tap/repair-utf8.ts';

const METHOD = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const OVER_LIMIT = 2;

export interface AskedDescriptor {
  readonly entries: readonly RateLimitEntry[];
  readonly limit?: { readonly requestsPerUnit: number; readonly unit: number } | undefined;
  readonly hits?: { readonly number: number; readonly isNegative: boolean } | undefined;
  /** Whether headers tell of it; absent: as the filter says. */
  readonly tells?: boolean | undefined;
}

export interface AskedLimit {
  readonly domain: string;
  readonly descriptors: readonly AskedDescriptor[];
  /** How much the request counts; 0: once. */
  readonly hits: number;
}

export type LimitHeader = readonly [name: string, value: string];

/** What the service says of one descriptor's limit. */
export interface LimitStatus {
  readonly requestsPerUnit: number;
  /** Number of the API's unit. */
  readonly unit: number;
  readonly multiplier: number;
  readonly name: string;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** The place of its descriptor among those that were asked about. */
  readonly index: number;
}

export interface LimitAnswer {
  readonly isOverLimit: boolean;
  /** The state of descriptors that have a limit. */
  readonly limits: readonly LimitStatus[];
  /** When the last of the limits that are exceeded begins again; 0: none is. */
  readonly retryAfterS: number;
  readonly responseHeaders: readonly LimitHeader[];
  readonly requestHeaders: readonly LimitHeader[];
  readonly body: string;
  readonly metadata: Struct | undefined;
}

export interface LimitOwner {
  /** Undefined: the service did not answer. Once, and may be before `askLimit` returns. */
  onLimit(answer: LimitAnswer | undefined): void;
  onException(): void;
}

export function askLimit(
  service: GrpcService,
  asked: AskedLimit,
  call: { readonly timeoutMs: number; readonly parent: StreamInfo },
  owner: LimitOwner,
): GrpcRequest {
  return service.call({ method: METHOD, ...call }, writeRequest(asked), {
    onAnswer: (message) => owner.onLimit(readMessage(message, readLimitAnswer)),
    onFailure: () => owner.onLimit(undefined),
    onException: () => owner.onException(),
  });
}

function writeRequest({ domain, descriptors, hits }: AskedLimit): Buffer {
  const writer = new ProtoWriter();
  writer.utf8(1, domain);
  for (const descriptor of descriptors) {
    writer.message(2, () => writeDescriptor(writer, descriptor));
  }
  writer.integer(3, hits);
  return writer.finish();
}

function writeDescriptor(writer: ProtoWriter, { entries, limit, hits }: AskedDescriptor): void {
  for (const { key, value } of entries) {
    writer.message(1, () => {
      writer.text(1, repairUtf8(key, '!'));
      writer.text(2, repairUtf8(value, '!'));
    });
  }
  if (limit !== undefined) {
    writer.message(2, () => {
      writer.integer(1, limit.requestsPerUnit);
      writer.integer(2, limit.unit);
    });
  }
  if (hits === undefined) return;
  writer.message(3, () => writer.integer(1, hits.number));
  if (hits.isNegative) writer.integer(4, 1);
}

/** Within `readMessage`. */
export function readLimitAnswer(bytes: Buffer): LimitAnswer {
  let code = 0;
  const statuses: ReadStatuses = { count: 0, limits: [], retryAfterS: 0 };
  const responseHeaders: LimitHeader[] = [];
  const requestHeaders: LimitHeader[] = [];
  let body = '';
  let metadata: Struct | undefined;
  visitFields(bytes, (field) => {
    if (field.number === 1) code = field.int32() ?? code;
    else if (field.number === 2) readStatus(field, statuses);
    else if (field.number === 3) responseHeaders.push(readHeader(field));
    else if (field.number === 4) requestHeaders.push(readHeader(field));
    else if (field.number === 5) body = field.bytes()?.toString('latin1') ?? body;
    else if (field.number === 6) metadata = structIn(field) ?? metadata;
  });
  return {
    isOverLimit: code === OVER_LIMIT,
    limits: statuses.limits,
    retryAfterS: statuses.retryAfterS,
    responseHeaders,
    requestHeaders,
    body,
    metadata,
  };
}

function structIn(field: ProtoField): Struct | undefined {
  const bytes = field.bytes();
  return bytes && readStruct(bytes);
}

interface ReadStatuses {
  count: number;
  readonly limits: LimitStatus[];
  retryAfterS: number;
}

function readStatus(field: ProtoField, statuses: ReadStatuses): void {
  let hasLimit = false;
  let code = 0;
  const limit = { requestsPerUnit: 0, unit: 0, multiplier: 1, name: '' };
  let [remaining, resetSeconds] = [0, 0];
  field.message((part) => {
    if (part.number === 1) code = part.int32() ?? code;
    else if (part.number === 2) {
      hasLimit = true;
      part.message((inner) => readLimit(inner, limit));
    } else if (part.number === 3) remaining = part.integer() ?? remaining;
    else if (part.number === 4) {
      part.message((inner) => {
        if (inner.number === 1) resetSeconds = inner.integer() ?? resetSeconds;
      });
    }
  });
  const index = statuses.count++;
  if (hasLimit) statuses.limits.push({ ...limit, remaining, resetSeconds, index });
  if (code === OVER_LIMIT) {
    statuses.retryAfterS = Math.max(statuses.retryAfterS, resetSeconds, 1);
  }
}

function readLimit(
  field: ProtoField,
  limit: { requestsPerUnit: number; unit: number; multiplier: number; name: string },
): void {
  if (field.number === 1) limit.requestsPerUnit = field.integer() ?? limit.requestsPerUnit;
  else if (field.number === 2) limit.unit = field.integer() ?? limit.unit;
  else if (field.number === 3) limit.name = field.text() ?? limit.name;
  else if (field.number === 4) {
    field.message((inner) => {
      if (inner.number === 1) limit.multiplier = inner.integer() ?? limit.multiplier;
    });
  }
}

/** envoy.config.core.v3.HeaderValue; a value that is given as bytes counts where there is no text. */
function readHeader(field: ProtoField): LimitHeader {
  let [key, value] = ['', ''];
  field.message((part) => {
    if (part.number === 1) key = part.text() ?? key;
    else if (part.number === 2) value = part.text() ?? value;
    else if (part.number === 3 && value === '') value = part.bytes()?.toString('latin1') ?? value;
  });
  return [key.toLowerCase(), value];
}

const WINDOW_SECONDS: readonly number[] = [0, 1, 60, 3600, 86400, 2592000, 31536000, 604800];

/**
 * `X-RateLimit-` headers of draft 3, by the limit that is nearest; none without a limit, or where
 * that one is not to be told of.
 */
export function rateLimitHeaders(
  limits: readonly LimitStatus[],
  tells: (index: number) => boolean,
): readonly LimitHeader[] {
  const [first] = limits;
  if (first === undefined) return [];
  let nearest = first;
  let policies = '';
  for (const limit of limits) {
    if (limit.remaining < nearest.remaining) nearest = limit;
    const window = (WINDOW_SECONDS[limit.unit] ?? 0) * limit.multiplier;
    if (window === 0 || !tells(limit.index)) continue;
    const name = limit.name === '' ? '' : `;name="${limit.name}"`;
    policies += `, ${limit.requestsPerUnit};w=${window}${name}`;
  }
  if (!tells(nearest.index)) return [];
  return [
    ['x-ratelimit-limit', `${nearest.requestsPerUnit}${policies}`],
    ['x-ratelimit-remaining', String(nearest.remaining)],
    ['x-ratelimit-reset', String(nearest.resetSeconds)],
  ];
}
