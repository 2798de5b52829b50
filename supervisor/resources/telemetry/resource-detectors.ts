/** Resolves who a collector is told that it hears from: attributes of the resource. */
import type { TypedExtensionConfig } from '../../../shared/api/generated/envoy/config/core/v3/extension.ts';
import type { EnvironmentResourceDetectorConfig } from '../../../shared/api/generated/envoy/extensions/tracers/opentelemetry/resource_detectors/v3/environment_resource_detector.ts';
import type { StaticConfigResourceDetectorConfig } from '../../../shared/api/generated/envoy/extensions/tracers/opentelemetry/resource_detectors/v3/static_config_resource_detector.ts';
import { environmentVariable } from '../../../shared/process/environment.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { ResourceAttributes } from '../../../shared/resources/telemetry/collector.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { serverVersion } from './exporter.ts';

const VARIABLE = 'OTEL_RESOURCE_ATTRIBUTES';

export const RESOURCE_DETECTORS = new ExtensionRegistry<ResourceAttributes>(
  'envoy.tracers.opentelemetry.resource_detectors',
  'resource detector',
  [
    extension(
      'envoy.tracers.opentelemetry.resource_detectors.environment',
      'envoy.extensions.tracers.opentelemetry.resource_detectors.v3.EnvironmentResourceDetectorConfig',
      (message: EnvironmentResourceDetectorConfig, scope) => {
        refuseOtherFields(message, knownFields([]), scope);
        return attributesIn(environmentVariable(VARIABLE) ?? '', scope);
      },
    ),
    extension(
      'envoy.tracers.opentelemetry.resource_detectors.static_config',
      'envoy.extensions.tracers.opentelemetry.resource_detectors.v3.StaticConfigResourceDetectorConfig',
      (message: StaticConfigResourceDetectorConfig, scope) => {
        refuseOtherFields(message, STATIC_FIELDS, scope);
        return Object.entries(message.attributes ?? {})
          .filter(([name, value]) => name !== '' && value !== '')
          .map(([name, value]) => [toByteString(name), toByteString(value)] as const);
      },
    ),
  ],
);

const STATIC_FIELDS = knownFields<StaticConfigResourceDetectorConfig>(['attributes']);

/** `a=b,c=d` of the environment. */
function attributesIn(text: string, scope: Scope): ResourceAttributes {
  if (text === '') return [];
  return text.split(',').flatMap((pair): ResourceAttributes => {
    const [name = '', value, ...rest] = pair.split('=');
    if (value === undefined || rest.length > 0) {
      const problem = `The OpenTelemetry environment resource detector: ${VARIABLE} has a wrong pair`;
      scope.error('conflict', problem);
      return [];
    }
    return [[toByteString(name), toByteString(value)]];
  });
}

export interface Origin {
  readonly detectors: readonly TypedExtensionConfig[] | undefined;
  /** Undefined: the service is not named. */
  readonly serviceName: string | undefined;
  readonly namesSdk: boolean;
}

/** What detectors say replaces what this server says by itself. */
export function resolveResource(
  { detectors = [], serviceName, namesSdk }: Origin,
  scope: Scope,
): ResourceAttributes {
  const attributes = new Map<string, string>();
  if (serviceName !== undefined) attributes.set('service.name', toByteString(serviceName));
  if (namesSdk) {
    attributes.set('telemetry.sdk.language', 'cpp');
    attributes.set('telemetry.sdk.name', 'envoy');
    attributes.set('telemetry.sdk.version', serverVersion());
  }
  for (const [index, detector] of detectors.entries()) {
    const found = RESOURCE_DETECTORS.resolve(detector, scope.at(index)) ?? [];
    for (const [name, value] of found) attributes.set(name, value);
  }
  return [...attributes];
}
