/**
 * The tracers of a worker: one row each, its kind and what makes it. Connection managers with the
 * same configuration share one.
 */
import { KindTable } from '../../shared/resources/by-kind.ts';
import type { TracerConfig } from '../../shared/resources/tracing/tracers.ts';
import { DatadogTracer } from './datadog/datadog-tracer.ts';
import { OpenTelemetryTracer } from './opentelemetry/otlp-tracer.ts';
import { SkyWalkingTracer } from './skywalking/skywalking-tracer.ts';
import type { Tracer } from './span.ts';
import type { TracerEnv } from './tracer-env.ts';
import { ZipkinTracer } from './zipkin/zipkin-tracer.ts';

const TRACERS = new KindTable<TracerConfig, [TracerEnv], Tracer>({
  zipkin: (config, env) => new ZipkinTracer(config, env),
  opentelemetry: (config, env) => new OpenTelemetryTracer(config, env),
  datadog: (config, env) => new DatadogTracer(config, env),
  skywalking: (config, env) => new SkyWalkingTracer(config, env),
});

interface Shared {
  readonly tracer: Tracer;
  holders: number;
}

export class Tracers {
  readonly #env: TracerEnv;
  readonly #shared = new Map<string, Shared>();

  constructor(env: TracerEnv) {
    this.#env = env;
  }

  /** Its opener releases it once. */
  open(config: TracerConfig): Tracer {
    const key = JSON.stringify(config);
    const known = this.#shared.get(key);
    const shared = known ?? { tracer: TRACERS.make(config, this.#env), holders: 0 };
    shared.holders += 1;
    this.#shared.set(key, shared);
    let isReleased = false;
    return {
      begin: (headers, start) => shared.tracer.begin(headers, start),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        shared.holders -= 1;
        if (shared.holders > 0) return;
        this.#shared.delete(key);
        shared.tracer.release();
      },
    };
  }
}
