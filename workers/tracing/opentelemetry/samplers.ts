/** Samplers of the OpenTelemetry tracer, which decide in place of the connection manager. */
import type { Sampler } from '../../../shared/resources/tracing/opentelemetry.ts';
import type { W3cContext } from '../w3c-context.ts';

export type CompiledSampler = (traceId: string, parent: W3cContext | undefined) => boolean;

export function compileSampler(sampler: Sampler): CompiledSampler {
  switch (sampler.kind) {
    case 'always_on':
      return () => true;
    case 'parent_based': {
      const root = compileSampler(sampler.root);
      return (traceId, parent) => (parent === undefined ? root(traceId, parent) : parent.isSampled);
    }
    case 'ratio': {
      const { numerator, denominator } = sampler.share;
      return (traceId) => drawOf(traceId) % BigInt(denominator) < BigInt(numerator);
    }
  }
}

/** By the trace's id, so that everybody on the trace's way decides alike. */
function drawOf(traceId: string): bigint {
  return Buffer.from(traceId.slice(0, 16), 'hex').readBigUInt64LE();
}
