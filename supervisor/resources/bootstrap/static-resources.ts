/** Resolves the clusters and listeners of the bootstrap, and what they say of each other. */
import { meantName } from '../meant-name.ts';
import { setImmediate } from 'node:timers/promises';
import type {
  Bootstrap,
  ClusterManager,
} from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { Listener } from '../../../shared/api/generated/envoy/config/listener/v3/listener.ts';
import type { Secret } from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
import { printAddress } from '../../../shared/addresses/print-address.ts';
import { resolveCluster, type ClusterDefaults } from '../clusters/cluster.ts';
import { resolveDnsDefaults } from '../clusters/dns-cluster.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { conflictKey, resolveListener } from '../listeners/listener.ts';
import { NetworkFilterResolver } from '../listeners/network-filters.ts';
import type { ResolvedCluster, ResolvedListener } from '../../resolved/resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';
import type { WithMessage } from '../../store/static-store.ts';

const MANAGER_FIELDS = knownFields<ClusterManager>(
  ['local_cluster_name', 'upstream_bind_config', 'outlier_detection', 'load_stats_config'],
  ['enable_deferred_cluster_creation'],
);

const DETECTION_FIELDS = knownFields<NonNullable<ClusterManager['outlier_detection']>>([
  'event_log_path',
  'event_service',
]);

/** Some milliseconds of work. */
const CLUSTERS_PER_TURN = 200;

export async function resolveStaticClusters(
  bootstrap: Bootstrap,
  scope: Scope,
): Promise<ReadonlyMap<string, WithMessage<Cluster, ResolvedCluster>>> {
  const manager = bootstrap.cluster_manager ?? {};
  refuseOtherFields(manager, MANAGER_FIELDS, scope.at('cluster_manager'));
  const detection = manager.outlier_detection ?? {};
  const detectionPlace = scope.at('cluster_manager', 'outlier_detection');
  refuseOtherFields(detection, DETECTION_FIELDS, detectionPlace);
  if (detection.event_service !== undefined) {
    const text = "'event_service' has no effect, as in Envoy";
    detectionPlace.at('event_service').warning('no_effect', text);
  }
  const messages: readonly Cluster[] = bootstrap.static_resources?.clusters ?? [];
  const clusters = new Map<string, WithMessage<Cluster, ResolvedCluster>>();
  const defaults = resolveClusterDefaults(bootstrap, scope);
  const place = scope.at('static_resources', 'clusters');
  for (const [index, message] of messages.entries()) {
    if (index % CLUSTERS_PER_TURN === CLUSTERS_PER_TURN - 1) await setImmediate();
    const name = message.name ?? '';
    if (clusters.has(name)) {
      place.at(index, 'name').error('duplicate', `cluster manager: duplicate cluster '${name}'`);
    }
    const resolved = resolveCluster(message, defaults, place.at(index));
    clusters.set(name, { message, resolved });
  }
  checkLocalCluster(manager, clusters, scope);
  return clusters;
}

/** Secrets of the bootstrap, which static resources and those of control planes name. */
export function staticSecrets(bootstrap: Bootstrap): ReadonlyMap<string, Secret> {
  const { secrets = [] } = bootstrap.static_resources ?? {};
  return new Map(secrets.map((secret) => [secret.name ?? '', secret]));
}

/** What the bootstrap sets for clusters, wherever they come from. */
export function resolveClusterDefaults(bootstrap: Bootstrap, scope: Scope): ClusterDefaults {
  return {
    bindConfig: bootstrap.cluster_manager?.upstream_bind_config,
    dns: resolveDnsDefaults(bootstrap, scope),
  };
}

/** The cluster that this server is part of, for choosing hosts of the same zone. */
function checkLocalCluster(
  { local_cluster_name: name = '' }: ClusterManager,
  clusters: ReadonlyMap<string, WithMessage<Cluster, ResolvedCluster>>,
  scope: Scope,
): void {
  if (name === '') return;
  const place = scope.at('cluster_manager', 'local_cluster_name');
  const local = clusters.get(name);
  if (local === undefined) {
    const text = `local cluster '${name}' must be defined`;
    place.error('reference', text, meantName(name, clusters.keys()));
  } else if (local.resolved.hosts.hosts.some(({ priority }) => priority > 0)) {
    place.error('conflict', `Unexpected non-zero priority for local cluster '${name}'.`);
  }
}

export function resolveStaticListeners(
  bootstrap: Bootstrap,
  isKnownCluster: (name: string) => boolean,
  scope: Scope,
): readonly WithMessage<Listener, ResolvedListener>[] {
  const filters = new NetworkFilterResolver(isKnownCluster);
  const messages: readonly Listener[] = bootstrap.static_resources?.listeners ?? [];
  const listeners: WithMessage<Listener, ResolvedListener>[] = [];
  const names = new Set<string>();
  const taken = new Set<string>();
  const place = scope.at('static_resources', 'listeners');
  for (const [index, message] of messages.entries()) {
    const { name = '' } = message;
    if (names.has(name)) {
      // Nothing in it is looked at: what it names need not be there, as in Envoy. The file's reader has warned.
      continue;
    }
    const listener = resolveListener(message, filters, place.at(index));
    if (listener === undefined) continue;
    names.add(listener.resource.name);
    checkAddresses(listener, taken, place.at(index));
    listeners.push({ message, resolved: listener });
  }
  return listeners;
}

/** Addresses within one listener may repeat; between listeners they may not. */
function checkAddresses(listener: ResolvedListener, taken: Set<string>, scope: Scope): void {
  const own = new Set<string>();
  for (const { address } of listener.addresses) {
    const key = conflictKey(address);
    if (key === undefined) continue;
    if (taken.has(key)) {
      scope
        .at('address')
        .error(
          'duplicate',
          `error adding listener: '${listener.resource.name}' has duplicate address '${printAddress(address)}' as existing listener, to check if the listener has duplicated addresses with other listeners or 'enable_reuse_port' is set to 'false' for the listener`,
        );
    }
    own.add(key);
  }
  for (const key of own) taken.add(key);
}
