/** The Datadog tracer: traces as msgpack to an agent by HTTP, every two seconds. */
import { randomUUID } from 'node:crypto';
import type { DatadogTracerConfig } from '../../../shared/resources/tracing/datadog.ts';
import { DATADOG_TRACER } from '../../../shared/stats/templates/telemetry.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { BatchSender } from '../../telemetry/batch-sender.ts';
import { HttpCollector, type Outcome } from '../../telemetry/collector.ts';
import type { Span, SpanStart, Tracer } from '../span.ts';
import { newId64 } from '../span-ids.ts';
import type { TracerEnv } from '../tracer-env.ts';
import { readDatadogContext } from './datadog-context.ts';
import { type DatadogReporter, DatadogSpan, DatadogTrace } from './datadog-span.ts';

const PATH = '/v0.4/traces';
const FLUSH_INTERVAL_MS = 2000;
/** The agent is given less time than until the next report. */
const TIMEOUT_MS = 1999;
const WAITING_MAX = 16_384;
/** Before the interval, where there are so many bytes. */
const BATCH_BYTES = 512 * 1024;
/** Priorities: as this server's own sampling has drawn, or as a user has refused. */
const KEEP = 1;
const DROP = -1;

const { index } = DATADOG_TRACER;
const OUTCOMES: Readonly<Record<Outcome, number>> = {
  accepted: index.reports_sent,
  refused: index.reports_failed,
  failed: index.reports_failed,
  no_cluster: index.reports_skipped_no_cluster,
};

export class DatadogTracer implements Tracer, DatadogReporter {
  readonly serviceName: string;
  readonly version: string;
  readonly runtimeId = randomUUID();
  readonly #env: TracerEnv;
  readonly #base: number;
  readonly #collector: HttpCollector;
  readonly #sender: BatchSender;

  constructor({ cluster, authority, serviceName, version }: DatadogTracerConfig, env: TracerEnv) {
    const { stats, loop } = env;
    this.serviceName = serviceName;
    this.version = `envoy ${version}`;
    this.#env = env;
    this.#base = stats.defineBlock(DATADOG_TRACER, 'tracing.datadog.');
    const target = { cluster, scheme: 'http', authority, path: PATH, timeoutMs: TIMEOUT_MS };
    const kind = { contentType: 'application/msgpack' };
    this.#collector = new HttpCollector({ target, headers: [] }, kind, env.services);
    this.#sender = new BatchSender({
      loop,
      limits: () => ({ bytes: BATCH_BYTES, ms: FLUSH_INTERVAL_MS }),
      waitingMax: WAITING_MAX,
      send: (traces, done) => this.#send(traces, done),
      onDropped: () => this.#count(index.reports_dropped),
    });
  }

  begin(headers: HeaderMap, { operation, startWallMs, isSampled }: SpanStart): Span {
    const given = readDatadogContext(headers);
    const own = isSampled ? KEEP : DROP;
    if (given !== undefined) {
      const { parentId, priority, ...rest } = given;
      const place = { ...rest, priority: priority ?? own };
      const trace = new DatadogTrace(this, place, false);
      const ids = { id: BigInt(`0x${newId64()}`), parentId, isFirst: true };
      return new DatadogSpan(trace, ids, operation, startWallMs);
    }
    // An id of 64 bits has room for signed readers.
    const id = BigInt(`0x${newId64()}`) & 0x7fff_ffff_ffff_ffffn;
    const seconds = Math.floor(startWallMs / 1000);
    const place = {
      traceLow: id,
      traceHigh: `${seconds.toString(16).padStart(8, '0')}00000000`,
      priority: own,
      tags: isSampled ? [['_dd.p.dm', '-0'] as const] : [],
      origin: '',
      otherState: '',
    };
    const trace = new DatadogTrace(this, place, isSampled);
    return new DatadogSpan(trace, { id, parentId: 0n, isFirst: true }, operation, startWallMs);
  }

  report(trace: Buffer): void {
    this.#sender.add(trace);
  }

  release(): void {
    this.#sender.release();
    this.#env.stats.releaseBlock(this.#base);
  }

  #send(traces: readonly Buffer[], done: (outcome: Outcome) => void): void {
    const head = Buffer.alloc(5);
    head[0] = 0xdd;
    head.writeUInt32BE(traces.length, 1);
    const extra = [
      ['x-datadog-trace-count', String(traces.length)],
      ['datadog-meta-lang', 'cpp'],
      ['datadog-meta-lang-version', process.versions.node],
      ['datadog-meta-tracer-version', this.version],
    ] as const;
    const counted = (outcome: Outcome): void => {
      this.#count(OUTCOMES[outcome]);
      done(outcome);
    };
    this.#collector.send(Buffer.concat([head, ...traces]), counted, extra);
  }

  #count(offset: number): void {
    this.#env.stats.increment(this.#base + offset);
  }
}
