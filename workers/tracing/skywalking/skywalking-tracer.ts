/** The SkyWalking tracer: the context of `sw8`, segments by a stream of gRPC. */
import { randomUUID } from 'node:crypto';
import type { SkyWalkingTracerConfig } from '../../../shared/resources/tracing/skywalking.ts';
import { SKYWALKING_TRACER } from '../../../shared/stats/templates/telemetry.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { NO_SPAN, type Span, type SpanStart, type Tracer } from '../span.ts';
import type { TracerEnv } from '../tracer-env.ts';
import { SegmentStream } from './segment-stream.ts';
import { Segment, SkyWalkingSpan } from './skywalking-span.ts';
import { readSw8 } from './sw8-context.ts';

export class SkyWalkingTracer implements Tracer {
  readonly #config: SkyWalkingTracerConfig;
  readonly #stream: SegmentStream;
  readonly #release: () => void;
  readonly #report: (segment: Buffer) => void;

  constructor(config: SkyWalkingTracerConfig, { loop, stats, grpcServices }: TracerEnv) {
    this.#config = config;
    const base = stats.defineBlock(SKYWALKING_TRACER, 'tracing.skywalking.');
    const service = grpcServices.service(config.target);
    const { segmentsMax } = config;
    this.#stream = new SegmentStream({ loop, stats, base, service, segmentsMax });
    this.#report = (segment) => this.#stream.send(segment);
    this.#release = () => {
      this.#stream.release();
      stats.releaseBlock(base);
    };
  }

  begin(headers: HeaderMap, { startWallMs, isSampled }: SpanStart): Span {
    const context = readSw8(headers);
    if (context === undefined) return NO_SPAN;
    const parent = context === 'absent' ? undefined : context;
    const { serviceName: service, instanceName: instance } = this.#config;
    const endpoint = headers.path;
    const segment = new Segment({
      traceId: parent?.traceId ?? randomUUID(),
      segmentId: randomUUID(),
      parent,
      isSampled,
      service,
      instance,
      endpoint,
      report: this.#report,
    });
    return new SkyWalkingSpan(segment, endpoint, startWallMs);
  }

  release(): void {
    this.#release();
  }
}
