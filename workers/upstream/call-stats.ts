/**
 * Counts of gRPC calls below one cluster: `cluster.<name>.grpc.<service>.<method>.` with the
 * statuses as they come, `success`, `failure`, `total`, messages, and a histogram of times. They appear
 * on first use. Clients choose methods and hosts choose statuses, so there is a limit to both.
 */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';

/** Further methods count for the cluster alone. */
const METHODS_MAX = 1024;
const METHOD_LENGTH_MAX = 256;
/** Further statuses of a method count as success or failure alone. */
const STATUSES_MAX = 64;
const STATUS_LENGTH_MAX = 64;

export type CallProtocol = 'grpc' | 'grpc-web';

export class CallStats {
  readonly #writer: StatWriter;
  readonly #prefix: string;
  readonly #methods = new Map<string, CallCounters>();

  /** `prefix` ends in a dot. */
  constructor(writer: StatWriter, prefix: string) {
    this.#writer = writer;
    this.#prefix = prefix;
  }

  /** The counters of `service.method`; without one, of the cluster. */
  of(protocol: CallProtocol, method?: string): CallCounters {
    const key = method === undefined ? protocol : `${protocol}.${method}`;
    const known = this.#methods.get(key);
    if (known !== undefined) return known;
    const isTooMuch = this.#methods.size >= METHODS_MAX || key.length > METHOD_LENGTH_MAX;
    if (isTooMuch && method !== undefined) return this.of(protocol);
    const made = new CallCounters(this.#writer, `${this.#prefix}${key}.`);
    this.#methods.set(key, made);
    return made;
  }

  /** They go unless somebody else has them too. */
  release(): void {
    for (const counters of this.#methods.values()) counters.release();
    this.#methods.clear();
  }
}

export class CallCounters {
  readonly #writer: StatWriter;
  readonly #prefix: string;
  /** By the last part of their names. */
  readonly #indices = new Map<string, number>();
  #statuses = 0;

  constructor(writer: StatWriter, prefix: string) {
    this.#writer = writer;
    this.#prefix = prefix;
  }

  /** A call that ended with this status; any text may be one. */
  charge(status: string): void {
    this.#chargeStatus(status);
    this.#chargeOutcome(status === '0');
  }

  #chargeOutcome(isSuccess: boolean): void {
    this.#add(isSuccess ? 'success' : 'failure', 1);
    this.#add('total', 1);
  }

  addRequestMessages(count: number): void {
    this.#add('request_message_count', count);
  }

  addResponseMessages(count: number): void {
    this.#add('response_message_count', count);
  }

  recordUpstreamTime(milliseconds: number): void {
    let index = this.#indices.get('upstream_rq_time');
    if (index === undefined) {
      index = this.#writer.defineHistogram(`${this.#prefix}upstream_rq_time`);
      this.#indices.set('upstream_rq_time', index);
    }
    this.#writer.record(index, milliseconds);
  }

  release(): void {
    for (const name of this.#indices.keys()) this.#writer.releaseNamed(this.#prefix + name);
    this.#indices.clear();
  }

  #chargeStatus(status: string): void {
    // A host that calls its status `total` or the like counts by outcome alone.
    if (status === '' || RESERVED.has(status)) return;
    if (!this.#indices.has(status)) {
      if (this.#statuses >= STATUSES_MAX || status.length > STATUS_LENGTH_MAX) return;
      this.#statuses++;
    }
    this.#add(status, 1);
  }

  #add(name: string, count: number): void {
    let index = this.#indices.get(name);
    if (index === undefined) {
      index = this.#writer.defineCounter(this.#prefix + name);
      this.#indices.set(name, index);
    }
    this.#writer.add(index, count);
  }
}

const RESERVED: ReadonlySet<string> = new Set([
  'success',
  'failure',
  'total',
  'request_message_count',
  'response_message_count',
  'upstream_rq_time',
]);
