/**
 * Resolves how much the place of hosts counts when they are chosen. The older message has fewer
 * fields.
 */
import type {
  LocalityLbConfig,
  LocalityLbConfig_ZoneAwareLbConfig as ZoneAware,
} from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/common/v3/common.ts';
import type { LocalityChoice } from '../../../shared/resources/clusters/lb-policy.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { wholePercent } from '../values.ts';

interface Localities {
  readonly localities?: LocalityChoice;
}

const LOCALITY_FIELDS = knownFields<LocalityLbConfig>([
  'locality_weighted_lb_config',
  'zone_aware_lb_config',
]);
const ZONE_FIELDS = knownFields<ZoneAware>([
  'routing_enabled',
  'min_cluster_size',
  'fail_traffic_on_panic',
  'force_locality_direct_routing',
  'force_local_zone',
  'locality_basis',
]);

const MIN_CLUSTER_SIZE = 6;
const ALL_PERCENT = 100;

export function resolveLocalities(config: LocalityLbConfig | undefined, scope: Scope): Localities {
  if (config === undefined) return {};
  refuseOtherFields(config, LOCALITY_FIELDS, scope);
  if (config.locality_weighted_lb_config !== undefined) return { localities: { kind: 'weighted' } };
  return resolveZoneAware(config.zone_aware_lb_config, scope.at('zone_aware_lb_config'));
}

export function resolveZoneAware(config: ZoneAware | undefined, scope: Scope): Localities {
  if (config === undefined) return {};
  refuseOtherFields(config, ZONE_FIELDS, scope);
  const { routing_enabled: enabled, min_cluster_size: least } = config;
  const forced = forcedMinSize(config);
  return {
    localities: {
      kind: 'zone_aware',
      options: {
        routingEnabled: enabled === undefined ? ALL_PERCENT : wholePercent(enabled),
        minClusterSize: least === undefined ? MIN_CLUSTER_SIZE : Number(least),
        ...(forced === undefined ? {} : { forceLocalZoneMinSize: forced }),
        ...(config.locality_basis === 'HEALTHY_HOSTS_WEIGHT' ? { countsWeights: true } : {}),
      },
      ...(config.fail_traffic_on_panic === true ? { failsInPanic: true } : {}),
    },
  };
}

/** The older field says the same as a zone of one host. */
function forcedMinSize(config: ZoneAware): number | undefined {
  const { force_local_zone: forced, force_locality_direct_routing: older } = config;
  if (forced !== undefined) return forced.min_size ?? 1;
  return older === true ? 1 : undefined;
}
