/** Reports of quota buckets and what a service answers: envoy.service.rate_limit_quota.v3. */
import type { QuotaId } from '../../../../shared/messages/quota-steps.ts';
import {
  readMessage,
  type ProtoField,
  visitFields,
} from '../../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import type { QuotaStrategy } from '../../../../shared/resources/filters/http/limits/rate-limit-quota.ts';

interface QuotaUsage {
  readonly id: QuotaId;
  readonly elapsedMs: number;
  readonly allowed: number;
  readonly denied: number;
}

export type QuotaAction =
  | {
      readonly kind: 'assign';
      readonly id: QuotaId;
      readonly ttlMs: number;
      readonly strategy: QuotaStrategy;
    }
  | { readonly kind: 'abandon'; readonly id: QuotaId };

/** Actions of one answer that are carried out. */
const ACTIONS_MAX = 10_000;
/** Entries of one identifier. */
const ENTRIES_MAX = 64;
const SECOND_MS = 1000;
/** Envoy's own limit of a duration of the API, in seconds. */
const SECONDS_MAX = 315_576_000_000;
/** By the number of envoy.type.v3.RateLimitUnit. */
const UNIT_SECONDS: readonly number[] = [1, 1, 60, 3600, 86400, 2592000, 31536000, 604800];

export function idKey(id: QuotaId): string {
  return JSON.stringify(id);
}

export function sortedId(entries: QuotaId): QuotaId {
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

export function writeReport(domain: string, usages: readonly QuotaUsage[]): Buffer {
  const writer = new ProtoWriter();
  writer.utf8(1, domain);
  for (const { id, elapsedMs, allowed, denied } of usages) {
    writer.message(2, () => {
      writer.message(1, () => {
        for (const [key, value] of id) writer.textPair(1, key, value);
      });
      const seconds = Math.floor(elapsedMs / SECOND_MS);
      writer.message(2, () => {
        writer.integer(1, seconds);
        writer.integer(2, Math.floor((elapsedMs - seconds * SECOND_MS) * 1e6));
      });
      writer.integer(3, allowed);
      writer.integer(4, denied);
    });
  }
  return writer.finish();
}

/** Undefined for what is no such message. */
export function readActions(bytes: Buffer): readonly QuotaAction[] | undefined {
  return readMessage(bytes, (message) => {
    const actions: QuotaAction[] = [];
    visitFields(message, (field) => {
      if (field.number !== 1 || actions.length >= ACTIONS_MAX) return;
      const action = readAction(field);
      if (action !== undefined) actions.push(action);
    });
    return actions;
  });
}

function readAction(field: ProtoField): QuotaAction | undefined {
  const entries: [string, string][] = [];
  let assignment: { ttlMs: number; strategy: QuotaStrategy } | undefined;
  let isAbandoned = false;
  field.message((part) => {
    if (part.number === 1) readId(part, entries);
    else if (part.number === 2) assignment = readAssignment(part);
    else if (part.number === 3) isAbandoned = true;
  });
  const id = sortedId(entries);
  if (assignment !== undefined) return { kind: 'assign', id, ...assignment };
  return isAbandoned ? { kind: 'abandon', id } : undefined;
}

function readId(field: ProtoField, entries: [string, string][]): void {
  field.message((entry) => {
    if (entry.number !== 1 || entries.length >= ENTRIES_MAX) return;
    const pair: [string, string] = ['', ''];
    entry.message((part) => {
      if (part.number === 1) pair[0] = part.text() ?? '';
      else if (part.number === 2) pair[1] = part.text() ?? '';
    });
    entries.push(pair);
  });
}

function readAssignment(field: ProtoField): { ttlMs: number; strategy: QuotaStrategy } {
  let ttlMs = 0;
  let strategy: QuotaStrategy = { kind: 'allow' };
  field.message((part) => {
    if (part.number === 2) ttlMs = readDuration(part);
    else if (part.number === 3) strategy = readStrategy(part);
  });
  return { ttlMs, strategy };
}

function readStrategy(field: ProtoField): QuotaStrategy {
  let strategy: QuotaStrategy = { kind: 'allow' };
  field.message((part) => {
    if (part.number === 1) strategy = { kind: part.integer() === 1 ? 'deny' : 'allow' };
    else if (part.number === 2) strategy = readRate(part);
    else if (part.number === 3) strategy = readTokens(part);
  });
  return strategy;
}

function readRate(field: ProtoField): QuotaStrategy {
  let [count, unit] = [0, 0];
  field.message((part) => {
    if (part.number === 1) count = part.integer() ?? count;
    else if (part.number === 2) unit = part.integer() ?? unit;
  });
  return tokens(count, count, (UNIT_SECONDS[unit] ?? 1) * SECOND_MS);
}

function readTokens(field: ProtoField): QuotaStrategy {
  let [max, perFill, fillMs] = [0, 1, SECOND_MS];
  field.message((part) => {
    if (part.number === 1) max = part.integer() ?? max;
    else if (part.number === 2) {
      // An empty wrapper holds 0; without one it is 1.
      perFill = 0;
      part.message((inner) => {
        if (inner.number === 1) perFill = inner.integer() ?? perFill;
      });
    } else if (part.number === 3) fillMs = readDuration(part);
  });
  return tokens(max, perFill, fillMs);
}

/** What gives no tokens lets nothing pass. */
function tokens(maxTokens: number, tokensPerFill: number, fillIntervalMs: number): QuotaStrategy {
  if (!(maxTokens > 0 && tokensPerFill > 0 && fillIntervalMs > 0)) return { kind: 'deny' };
  return { kind: 'tokens', maxTokens, tokensPerFill, fillIntervalMs };
}

/** Not negative. */
function readDuration(field: ProtoField): number {
  let [seconds, nanos] = [0, 0];
  field.message((part) => {
    if (part.number === 1) seconds = part.integer() ?? 0;
    else if (part.number === 2) nanos = part.integer() ?? 0;
  });
  const isFit = seconds >= 0 && seconds <= SECONDS_MAX && nanos >= 0 && nanos < 1e9;
  return isFit ? seconds * SECOND_MS + nanos / 1e6 : 0;
}
