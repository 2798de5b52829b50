/** Resolves the policy by which requests may name the hosts to take. */
import type {
  OverrideHost,
  OverrideHost_OverrideHostSource,
} from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/override_host/v3/override_host.ts';
import type { HostNamer } from '../../../shared/resources/clusters/lb-policy.ts';
import { extension, type ExtensionFactory } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadataKey } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { ANY_POLICY, type ChildPolicies, type Policy } from './child-policies.ts';

const FIELDS = knownFields<OverrideHost>([
  'override_host_sources',
  'fallback_policy',
  'selected_host_key',
]);
const SOURCE_FIELDS = knownFields<OverrideHost_OverrideHostSource>(['header', 'metadata']);

export function overrideHostPolicy(children: ChildPolicies): ExtensionFactory<Policy> {
  return extension(
    'envoy.load_balancing_policies.override_host',
    'envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost',
    (message: OverrideHost, scope): Policy => overrideHost(message, children, scope),
  );
}

function overrideHost(message: OverrideHost, children: ChildPolicies, scope: Scope): Policy {
  refuseOtherFields(message, FIELDS, scope);
  const sources = (message.override_host_sources ?? []).map((source, index) =>
    resolveSource(source, scope.at('override_host_sources', index)),
  );
  const place = scope.at('fallback_policy');
  const child = children.resolve(message.fallback_policy, place);
  if (child.kind === 'cluster_provided') place.unsupported('cluster_provided behind it is');
  const { selected_host_key: key } = message;
  return {
    kind: 'override_host',
    options: {
      sources: sources.filter((source) => source !== undefined),
      ...(key === undefined ? {} : { tells: resolveMetadataKey(key) }),
    },
    child: child.kind === 'cluster_provided' ? ANY_POLICY : child,
  };
}

function resolveSource(
  message: OverrideHost_OverrideHostSource,
  scope: Scope,
): HostNamer | undefined {
  refuseOtherFields(message, SOURCE_FIELDS, scope);
  const { header = '', metadata } = message;
  if (metadata !== undefined && header !== '') {
    scope.error('conflict', 'Only one override source must be set');
  } else if (metadata === undefined && header === '') {
    scope.error('conflict', 'Empty override source');
  } else if (metadata === undefined) {
    return { kind: 'header', name: header.toLowerCase() };
  } else {
    return { kind: 'metadata', ...resolveMetadataKey(metadata) };
  }
  return undefined;
}
