/** Every sampler of the OpenTelemetry tracer that a configuration may name, one line each. */
import type { AlwaysOnSamplerConfig } from '../../../shared/api/generated/envoy/extensions/tracers/opentelemetry/samplers/v3/always_on_sampler.ts';
import type { ParentBasedSamplerConfig } from '../../../shared/api/generated/envoy/extensions/tracers/opentelemetry/samplers/v3/parent_based_sampler.ts';
import type { TraceIdRatioBasedSamplerConfig } from '../../../shared/api/generated/envoy/extensions/tracers/opentelemetry/samplers/v3/trace_id_ratio_based_sampler.ts';
import type { Sampler } from '../../../shared/resources/tracing/opentelemetry.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { fractionWithKey } from '../matchers/fraction.ts';
import type { Scope } from '../scope.ts';

const PARENT_FIELDS = knownFields<ParentBasedSamplerConfig>(['wrapped_sampler']);
const RATIO_FIELDS = knownFields<TraceIdRatioBasedSamplerConfig>(['sampling_percentage']);
const PACKAGE = 'envoy.extensions.tracers.opentelemetry.samplers.v3';

export const SAMPLERS: ExtensionRegistry<Sampler> = new ExtensionRegistry<Sampler>(
  'envoy.tracers.opentelemetry.samplers',
  'sampler',
  [
    extension(
      'envoy.tracers.opentelemetry.samplers.always_on',
      `${PACKAGE}.AlwaysOnSamplerConfig`,
      (message: AlwaysOnSamplerConfig, scope): Sampler => {
        refuseOtherFields(message, knownFields([]), scope);
        return { kind: 'always_on' };
      },
    ),
    extension(
      'envoy.tracers.opentelemetry.samplers.parent_based',
      `${PACKAGE}.ParentBasedSamplerConfig`,
      resolveParentBased,
    ),
    extension(
      'envoy.tracers.opentelemetry.samplers.trace_id_ratio_based',
      `${PACKAGE}.TraceIdRatioBasedSamplerConfig`,
      (message: TraceIdRatioBasedSamplerConfig, scope): Sampler => {
        refuseOtherFields(message, RATIO_FIELDS, scope);
        return {
          kind: 'ratio',
          share: fractionWithKey(message.sampling_percentage ?? {}, undefined),
        };
      },
    ),
  ],
);

function resolveParentBased(message: ParentBasedSamplerConfig, scope: Scope): Sampler | undefined {
  refuseOtherFields(message, PARENT_FIELDS, scope);
  const place = scope.at('wrapped_sampler');
  const root = SAMPLERS.resolve(message.wrapped_sampler ?? {}, place);
  return root && { kind: 'parent_based', root };
}
