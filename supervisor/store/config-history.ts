/**
 * What became of the configuration while the server ran: each accepted change of a resource that a
 * control plane or a file brought, and each refusal, with the messages before and after it. The
 * oldest are forgotten when there are too many or they hold too much.
 */
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';
import { systemClock, type Clock } from '../../shared/process/clock.ts';
import type { DiscoveryKind } from '../resolved/resource-kinds.ts';

const ENTRIES_MAX = 4_096;
/** The limit of messages that only the history holds: those that were replaced. An estimate. */
const BYTES_MAX = 16 * 1024 * 1024;
/** A message with more values is not kept, since counting them would take too long. */
const VALUES_MAX = 50_000;
const REASON_MAX = 4_096;
/** What a value takes beside its text. */
const VALUE_BYTES = 48;

/** `answer_refused`: an answer as a whole, whatever it has. */
export type HistoryChange = 'accepted' | 'warming' | 'refused' | 'answer_refused' | 'removed';

export interface HistoryEntry {
  /** From 1, in their order. */
  readonly id: number;
  readonly timeMs: number;
  readonly kind: DiscoveryKind;
  /** The names that an answer was asked for, none where all were. */
  readonly name: string;
  readonly change: HistoryChange;
  /** As the control plane gave them; empty where it gave none. */
  readonly version: string;
  readonly nonce: string;
  /** Such as `ads`, or the path of a file. */
  readonly source: string;
  readonly reason?: string;
  /** What was in force; absent: nothing was, or it was too large to be kept. */
  before: JsonObject | undefined;
  /** What came into force, or was refused. */
  after: JsonObject | undefined;
  /** One of the messages was too large. */
  isPart: boolean;
  /** What it counts for. */
  bytes: number;
}

/** What the store knows of a change. */
export interface NotedChange {
  readonly kind: DiscoveryKind;
  readonly name: string;
  readonly change: HistoryChange;
  readonly version: string;
  readonly before?: JsonObject | undefined;
  readonly after?: JsonObject | undefined;
  readonly reason?: string;
}

interface Kept {
  readonly bytes: number | undefined;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

interface Origin {
  readonly version: string;
  readonly nonce: string;
  readonly source: string;
}

const UNKNOWN: Origin = { version: '', nonce: '', source: '' };

export class ConfigHistory {
  readonly #clock: Clock;
  /** The oldest first; those before `#from` are forgotten. */
  #entries: HistoryEntry[] = [];
  #from = 0;
  #bytes = 0;
  #lastId = 0;
  /** The origin of the answer that is being taken, by kind: one after the other is. */
  readonly #origins = new Map<DiscoveryKind, Origin>();
  /** The newest entry of each resource. */
  readonly #latest = new Map<string, HistoryEntry>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** An answer of this kind came on a stream. */
  heard(kind: DiscoveryKind, { version, nonce }: { version: string; nonce: string }): void {
    this.#origins.set(kind, { ...this.#originOf(kind), version, nonce });
  }

  /** Who gives it is known when somebody takes it. */
  taken(kind: DiscoveryKind, source: string, version: string): void {
    const known = this.#originOf(kind);
    // A nonce is that of the answer with this version, and not of what was read from a file.
    const nonce = known.version === version ? known.nonce : '';
    this.#origins.set(kind, { version, nonce, source });
  }

  note(noted: NotedChange): void {
    const { kind, name, change, version, reason } = noted;
    const origin = this.#originOf(kind);
    const { bytes, before, after } = this.#kept(noted);
    const entry: HistoryEntry = {
      id: ++this.#lastId,
      timeMs: this.#clock.wallMs(),
      kind,
      name,
      change,
      version: version === '' ? origin.version : version,
      nonce: origin.nonce,
      source: origin.source,
      before,
      after,
      isPart: bytes === undefined,
      bytes: bytes ?? 0,
      ...(reason !== undefined && { reason: reason.slice(0, REASON_MAX) }),
    };
    this.#entries.push(entry);
    if (isInForce(change)) this.#latest.set(`${kind} ${name}`, entry);
    this.#bytes += entry.bytes;
    this.#forgetOldest();
  }

  /** The one counts of the two messages that nobody else holds; one that is too large goes. */
  #kept({ kind, name, change, before, after }: NotedChange): Kept {
    const isNew = change === 'refused';
    const bytes = sizeOf(isNew ? after : before);
    if (bytes !== undefined) return { bytes, before, after };
    if (isNew) return { bytes, before, after: undefined };
    const earlier = this.#latest.get(`${kind} ${name}`);
    if (earlier !== undefined && earlier.after === before) {
      earlier.after = undefined;
      earlier.isPart = true;
    }
    return { bytes, before: undefined, after };
  }

  /** The newest first. */
  *newest(): Generator<HistoryEntry> {
    for (let at = this.#entries.length - 1; at >= this.#from; at--) {
      const entry = this.#entries[at];
      if (entry !== undefined) yield entry;
    }
  }

  /** Forgotten ones. */
  get forgotten(): number {
    return this.#lastId - (this.#entries.length - this.#from);
  }

  get lastId(): number {
    return this.#lastId;
  }

  /** An estimate of what only the history holds. */
  get heldBytes(): number {
    return this.#bytes;
  }

  #originOf(kind: DiscoveryKind): Origin {
    return this.#origins.get(kind) ?? UNKNOWN;
  }

  #forgetOldest(): void {
    while (this.#entries.length - this.#from > ENTRIES_MAX || this.#bytes > BYTES_MAX) {
      const oldest = this.#entries[this.#from];
      if (oldest === undefined) return;
      this.#bytes -= oldest.bytes;
      const key = `${oldest.kind} ${oldest.name}`;
      if (this.#latest.get(key) === oldest) this.#latest.delete(key);
      // Nothing of it stays, although its place does for a while.
      oldest.before = undefined;
      oldest.after = undefined;
      this.#from += 1;
    }
    if (this.#from < ENTRIES_MAX) return;
    this.#entries = this.#entries.slice(this.#from);
    this.#from = 0;
  }
}

function isInForce(change: HistoryChange): boolean {
  return change !== 'refused' && change !== 'answer_refused';
}

/** Undefined where it has too many values to be counted. */
function sizeOf(message: JsonObject | undefined): number | undefined {
  if (message === undefined) return 0;
  let bytes = 0;
  let values = 0;
  const waiting: JsonValue[] = [message];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (++values > VALUES_MAX) return undefined;
    bytes += VALUE_BYTES;
    if (typeof value === 'string') bytes += value.length;
    else if (Array.isArray(value)) for (const each of value as JsonValue[]) waiting.push(each);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        bytes += name.length;
        waiting.push(each as JsonValue);
      }
    }
  }
  return bytes;
}
