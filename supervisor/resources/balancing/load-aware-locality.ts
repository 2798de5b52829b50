/** Resolves the policy that chooses localities by what is left of their hosts' capacity. */
import type { LoadAwareLocality } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/load_aware_locality/v3/load_aware_locality.ts';
import type {
  LocalityLoadOptions,
  NestedPolicy,
  PickingPolicy,
} from '../../../shared/resources/clusters/lb-policy.ts';
import { typeNameOf } from '../../config/type-name.ts';
import { extension, type ExtensionFactory } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, float } from '../values.ts';
import { ANY_POLICY, type ChildPolicies, type Policy } from './child-policies.ts';

const FIELDS = knownFields<LoadAwareLocality>(
  [
    'endpoint_picking_policy',
    'weight_update_period',
    'metric_names_for_computing_utilization',
    'utilization_variance_threshold',
    'smoothing_time_constant',
    'remote_probe_fraction',
    'weight_expiration_period',
  ],
  // Without effect in Envoy, too.
  ['enable_oob_load_report', 'oob_reporting_period', 'oob_reporting_config'],
);
const UPDATE_MS = 1_000;
const SMOOTHING_MS = 5_000;
const EXPIRATION_MS = 180_000;
const VARIANCE_THRESHOLD = 0.1;
const PROBE_FRACTION = 0.03;

const TYPE = 'envoy.extensions.load_balancing_policies.load_aware_locality.v3.LoadAwareLocality';

export function loadAwareLocalityPolicy(children: ChildPolicies): ExtensionFactory<Policy> {
  return extension(
    'envoy.load_balancing_policies.load_aware_locality',
    TYPE,
    (message: LoadAwareLocality, scope): Policy => loadAwareLocality(message, children, scope),
  );
}

function loadAwareLocality(
  message: LoadAwareLocality,
  children: ChildPolicies,
  scope: Scope,
): Policy {
  const options = resolveOptions(message, scope);
  const { endpoint_picking_policy: picking } = message;
  const place = scope.at('endpoint_picking_policy');
  const first = children.firstKnown(picking, place);
  if (first === undefined) {
    place.error('conflict', 'No supported endpoint picking policy.');
    return ANY_POLICY;
  }
  if (typeNameOf(first.typed_config?.['@type'] ?? '') === TYPE) {
    place.error('conflict', 'load_aware_locality cannot be its own endpoint_picking_policy');
    return ANY_POLICY;
  }
  const child = children.resolve(picking, place);
  if (child.kind !== 'cluster_provided') return withinLocalities(child, options, place);
  place.error(
    'conflict',
    `Unsupported endpoint picking policy for load_aware_locality: ${first.name ?? ''}. Child load balancer could not be instantiated per locality.`,
  );
  return ANY_POLICY;
}

/**
 * A host that a request names is taken wherever it is. Policies that hash have tables over all
 * localities: what is chosen here is nothing to them.
 */
function withinLocalities(
  child: NestedPolicy,
  options: LocalityLoadOptions,
  place: Scope,
): NestedPolicy {
  switch (child.kind) {
    case 'ring_hash':
    case 'maglev': {
      const { localities: _, ...policy } = child;
      return policy;
    }
    case 'override_host':
      return { ...child, child: withinLocalities(child.child, options, place) };
    case 'subset':
      place.unsupported('a policy of subsets within localities is');
      return child;
    case 'load_aware_locality':
      return { ...child, options };
    default: {
      const { localities: _, ...policy } = child;
      return { kind: 'load_aware_locality', options, child: policy satisfies PickingPolicy };
    }
  }
}

function resolveOptions(message: LoadAwareLocality, scope: Scope): LocalityLoadOptions {
  refuseOtherFields(message, FIELDS, scope);
  if (message.enable_oob_load_report === true) {
    scope
      .at('enable_oob_load_report')
      .warning('no_effect', 'reports are read from responses, as in Envoy');
  }
  const { utilization_variance_threshold: variance, remote_probe_fraction: probes } = message;
  return {
    updateMs: durationMsOr(message.weight_update_period, UPDATE_MS),
    smoothingMs: durationMsOr(message.smoothing_time_constant, SMOOTHING_MS),
    expirationMs: durationMsOr(message.weight_expiration_period, EXPIRATION_MS),
    metricNames: message.metric_names_for_computing_utilization ?? [],
    varianceThreshold: variance === undefined ? VARIANCE_THRESHOLD : float(variance),
    probeFraction: probes === undefined ? PROBE_FRACTION : float(probes),
  };
}
