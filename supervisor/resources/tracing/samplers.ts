/** Every sampler of the OpenTelemetry tracer that a configuration may name, one line each. */
import type { OfKind } from '../../../shared/resources/by-kind.ts';
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
  {
    always_on: extension(
      'envoy.tracers.opentelemetry.samplers.always_on',
      `${PACKAGE}.AlwaysOnSamplerConfig`,
      (message: AlwaysOnSamplerConfig, scope) => {
        refuseOtherFields(message, knownFields([]), scope);
        return { kind: 'always_on' };
      },
    ),
    parent_based: extension(
      'envoy.tracers.opentelemetry.samplers.parent_based',
      `${PACKAGE}.ParentBasedSamplerConfig`,
      resolveParentBased,
    ),
    ratio: extension(
      'envoy.tracers.opentelemetry.samplers.trace_id_ratio_based',
      `${PACKAGE}.TraceIdRatioBasedSamplerConfig`,
      (message: TraceIdRatioBasedSamplerConfig, scope) => {
        refuseOtherFields(message, RATIO_FIELDS, scope);
        return {
          kind: 'ratio',
          share: fractionWithKey(message.sampling_percentage ?? {}, undefined),
        };
      },
    ),
  },
);

function resolveParentBased(
  message: ParentBasedSamplerConfig,
  scope: Scope,
): OfKind<Sampler, 'parent_based'> | undefined {
  refuseOtherFields(message, PARENT_FIELDS, scope);
  const place = scope.at('wrapped_sampler');
  const root = SAMPLERS.resolve(message.wrapped_sampler ?? {}, place);
  return root && { kind: 'parent_based', root };
}
