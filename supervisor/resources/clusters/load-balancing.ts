/** Resolves how a cluster's hosts are chosen: `load_balancing_policy`, or the older `lb_policy`. */
import type {
  Cluster,
  Cluster_CommonLbConfig as CommonLbConfig,
} from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { LbPolicy } from '../../../shared/resources/cluster.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { float } from '../values.ts';

type Kind = LbPolicy['kind'];

/** Values of `lb_policy` that workers have. */
const KINDS: ReadonlySet<string> = new Set<Kind>(['ROUND_ROBIN']);

export const POLICIES = new ExtensionRegistry<Kind>('load balancing policy', [
  extension(
    'envoy.load_balancing_policies.round_robin',
    'envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin',
    (message: object, scope): Kind => {
      refuseOtherFields(message, knownFields([]), scope);
      return 'ROUND_ROBIN';
    },
  ),
]);

const COMMON_FIELDS = knownFields<CommonLbConfig>(
  ['healthy_panic_threshold', 'ignore_new_hosts_until_first_hc'],
  [
    // Without a local cluster there is no zone to prefer; hosts of static clusters do not change;
    // the rest is of balancers that hash or follow a host named by a filter.
    'zone_aware_lb_config',
    'update_merge_window',
    'consistent_hashing_lb_config',
    'override_host_status',
  ],
);

const PANIC_THRESHOLD_PERCENT = 50;

export function resolveLbPolicy(message: Cluster, scope: Scope): LbPolicy {
  const common = message.common_lb_config ?? {};
  refuseOtherFields(common, COMMON_FIELDS, scope.at('common_lb_config'));
  if (message.round_robin_lb_config?.slow_start_config !== undefined) {
    scope.at('round_robin_lb_config', 'slow_start_config').unsupported('slow start is');
  }
  const threshold = common.healthy_panic_threshold?.value;
  return {
    kind: resolveKind(message, scope),
    healthyPanicThreshold:
      common.healthy_panic_threshold === undefined
        ? PANIC_THRESHOLD_PERCENT
        : float(threshold ?? 0),
  };
}

function resolveKind(message: Cluster, scope: Scope): Kind {
  if (message.load_balancing_policy !== undefined) {
    return resolvePolicies(message, scope.at('load_balancing_policy', 'policies'));
  }
  const { lb_policy: policy = 'ROUND_ROBIN', name = '' } = message;
  const place = scope.at('lb_policy');
  if (policy === 'LOAD_BALANCING_POLICY_CONFIG') {
    scope.error('conflict', 'cluster: field load_balancing_policy need to be set');
  } else if (policy === 'CLUSTER_PROVIDED' && providesNoBalancer(message)) {
    place.error(
      'conflict',
      `cluster manager: cluster provided LB specified but cluster '${name}' did not provide one. Check cluster documentation.`,
    );
  } else if (policy !== 'CLUSTER_PROVIDED' && !KINDS.has(String(policy))) {
    place.unsupported(`load balancing policy ${policy} is`, `there is ${[...KINDS].join(', ')}`);
  }
  return 'ROUND_ROBIN';
}

/** Cluster types with a balancer of their own are refused by themselves. */
function providesNoBalancer({ type = 'STATIC', cluster_type: custom }: Cluster): boolean {
  return custom === undefined && type !== 'ORIGINAL_DST';
}

/** The first policy that is known counts. */
function resolvePolicies(message: Cluster, scope: Scope): Kind {
  const policies = message.load_balancing_policy?.policies ?? [];
  const names = policies.map(({ typed_extension_config: config }) => config?.name ?? '');
  for (const [index, { typed_extension_config: config = {} }] of policies.entries()) {
    if (!POLICIES.knows(config)) continue;
    return POLICIES.resolve(config, scope.at(index, 'typed_extension_config')) ?? 'ROUND_ROBIN';
  }
  if (names.length === 0) {
    const name = message.name ?? '';
    scope.error(
      'conflict',
      `cluster: didn't find a registered load balancer factory implementation for cluster: '${name}' with names from []`,
    );
  } else {
    scope.error(
      'unsupported',
      `load balancing policies [${names.join(', ')}] are not supported; ${POLICIES.available()}`,
    );
  }
  return 'ROUND_ROBIN';
}
