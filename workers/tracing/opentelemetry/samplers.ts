/** Samplers of the OpenTelemetry tracer, which decide in place of the connection manager: one row each. */
import { KindTable } from '../../../shared/resources/by-kind.ts';
import type { Sampler } from '../../../shared/resources/tracing/opentelemetry.ts';
import type { W3cContext } from '../w3c-context.ts';

export type CompiledSampler = (traceId: string, parent: W3cContext | undefined) => boolean;

const SAMPLERS: KindTable<Sampler, [], CompiledSampler> = new KindTable({
  always_on: () => () => true,
  parent_based: (sampler) => {
    const root = SAMPLERS.make(sampler.root);
    return (traceId, parent) => (parent === undefined ? root(traceId, parent) : parent.isSampled);
  },
  ratio: ({ share: { numerator, denominator } }) => {
    return (traceId) => drawOf(traceId) % BigInt(denominator) < BigInt(numerator);
  },
});

export function compileSampler(sampler: Sampler): CompiledSampler {
  return SAMPLERS.make(sampler);
}

/** By the trace's id, so that everybody on the trace's way decides alike. */
function drawOf(traceId: string): bigint {
  return Buffer.from(traceId.slice(0, 16), 'hex').readBigUInt64LE();
}
