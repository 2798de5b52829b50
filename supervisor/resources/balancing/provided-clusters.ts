/**
 * Resolves clusters that bring a balancer of their own: aggregates, and hosts that requests name.
 */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { ClusterConfig as AggregateConfig } from '../../../shared/api/generated/envoy/extensions/clusters/aggregate/v3/cluster.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadataKey } from '../metadata.ts';
import type { Discovery } from '../../resolved/resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, optional } from '../values.ts';

const AGGREGATE_FIELDS = knownFields<AggregateConfig>(['clusters']);
const ORIGINAL_FIELDS = knownFields<NonNullable<Cluster['original_dst_lb_config']>>([
  'use_http_header',
  'http_header_name',
  'upstream_port_override',
  'metadata_key',
]);
const ORIGINAL_HEADER = 'x-envoy-original-dst-host';
const CLEANUP_INTERVAL_MS = 5_000;

export function resolveAggregate(config: AggregateConfig, scope: Scope): Discovery {
  refuseOtherFields(config, AGGREGATE_FIELDS, scope);
  return { kind: 'aggregate', clusters: config.clusters ?? [] };
}

export function resolveOriginalDst(message: Cluster, place: Scope): Discovery {
  const { original_dst_lb_config: config = {} } = message;
  const scope = place.at('original_dst_lb_config');
  refuseOtherFields(config, ORIGINAL_FIELDS, scope);
  if (message.load_assignment !== undefined) {
    place
      .at('load_assignment')
      .error('conflict', 'ORIGINAL_DST clusters must have no load assignment configured');
  }
  const { metadata_key: key } = config;
  const usesHeader = config.use_http_header === true;
  const header = (config.http_header_name ?? '').toLowerCase();
  if (header !== '' && !usesHeader) {
    scope.error(
      'conflict',
      `ORIGINAL_DST cluster: invalid config http_header_name=${header} and use_http_header is false. Set use_http_header to true if http_header_name is desired.`,
    );
  }
  return {
    kind: 'requested',
    ...(usesHeader ? { header: header === '' ? ORIGINAL_HEADER : header } : {}),
    ...optional('portOverride', config.upstream_port_override),
    ...(key === undefined ? {} : { metadataKey: resolveMetadataKey(key) }),
    cleanupIntervalMs: durationMsOr(message.cleanup_interval, CLEANUP_INTERVAL_MS),
  };
}
