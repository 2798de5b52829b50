/**
 * The tags that Envoy takes out of names by default, in its order; names without a first
 * token of their own come first on every statistic. Checked against recorded Prometheus output.
 */
import { regexTag, tokenTag, type TagRule } from './tag-rule.ts';

/** A dotted token; an IPv4 or bracketed IPv6 address with its port, as listeners are named. */
const TOKEN = '[^.]+';
const ADDRESS = '(?:\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}|\\[[a-fA-F_\\d]+\\])_\\d+';

/** Made again on each call: tag rules are configuration, not state. */
export function defaultTagRules(): TagRule[] {
  return [...regexRules(), ...tokenRules()];
}

function regexRules(): TagRule[] {
  const dynamo = `^http\\.${TOKEN}\\.dynamodb\\.`;
  const named = '^(?:listener|cluster)\\..*?\\.ssl\\.';
  return [
    regexTag('envoy.response_code', '_rq(_(\\d{3}))$'),
    regexTag('envoy.response_code_class', '_rq_((\\d))xx$'),
    regexTag(
      'envoy.dynamo_partition_id',
      `${dynamo}table\\.${TOKEN}\\.capacity\\.${TOKEN}(\\.__partition_id=(\\w{7}))$`,
    ),
    regexTag(
      'envoy.dynamo_operation',
      `${dynamo}(?:operation|table\\.${TOKEN}\\.capacity)(\\.(${TOKEN}))(?:\\.|$)`,
    ),
    regexTag('envoy.dynamo_table', `${dynamo}(?:table|error)\\.((${TOKEN})\\.)`),
    regexTag('envoy.ssl_cipher', '^listener\\..*?\\.ssl\\.ciphers(\\.([\\w-]+))$'),
    regexTag('envoy.ssl_curve', `${named}curves(\\.([\\w-]+))$`),
    regexTag('envoy.ssl_sigalg', `${named}sigalgs(\\.([\\w-]+))$`),
    regexTag('envoy.ssl_version', `${named}versions(\\.(TLSv\\d\\.\\d))$`),
    regexTag('cipher_suite', `^cluster\\.${TOKEN}\\.ssl\\.ciphers(\\.([\\w-]+))$`),
    regexTag('envoy.tls_certificate', `${named}certificate\\.((${TOKEN})\\.)`),
    regexTag('envoy.http_conn_manager_prefix', `^listener\\..*?\\.http\\.((${TOKEN})\\.)`),
    regexTag(
      'envoy.worker_id',
      `^(?:listener\\.(?:${ADDRESS}|${TOKEN})\\.|server\\.|listener_manager\\.|` +
        'thread_local_cluster_manager\\.)worker_((\\d+)\\.)',
    ),
    regexTag('envoy.listener_address', `^listener\\.((?!admin\\.)(${ADDRESS}|${TOKEN})\\.)`),
    regexTag('envoy.rds_route_config', `^http\\.${TOKEN}\\.rds\\.(([\\w.-]+)\\.)\\w+$`),
    regexTag('envoy.scoped_rds_config', `^http\\.${TOKEN}\\.scoped_rds\\.(([\\w.-]+)\\.)\\w+$`),
    regexTag(
      'envoy.rbac_policy_name',
      `^http\\.${TOKEN}\\.rbac\\.(?:${TOKEN}\\.)?policy\\.((${TOKEN})\\.)\\w+$`,
    ),
    regexTag('envoy.rbac_http_prefix', `^http\\.${TOKEN}\\.rbac\\.((?!policy\\.)(${TOKEN})\\.)`),
    regexTag('envoy.proxy_protocol_prefix', `^proxy_proto\\.((?!versions\\.)(${TOKEN})\\.)`),
    regexTag(
      'envoy.proxy_protocol_version',
      `^proxy_proto\\.(?:${TOKEN}\\.)?(versions\\.v(\\d)\\.)\\w+$`,
    ),
    regexTag('envoy.xds_resource_name', `^sds\\.((${TOKEN})\\.)`),
    ...bandwidthShareRules(),
  ];
}

/** Labels whose values may be empty or have dots. */
function bandwidthShareRules(): TagRule[] {
  const before = '^bandwidth_share\\.\\w+';
  return [
    regexTag('bucket_id', `${before}(\\.bucket_id\\.(.*?))\\.tenant\\.`),
    regexTag('tenant', `${before}\\.bucket_id\\..*?(\\.tenant\\.(.*))\\.direction\\.`),
    regexTag('direction', `${before}\\..*(\\.direction\\.(request|response))(?:\\.|$)`),
    regexTag('handling', `${before}\\..*(\\.handling\\.(limited|not_limited))$`),
  ];
}

function tokenRules(): TagRule[] {
  const rules: readonly (readonly [tag: string, pattern: string])[] = [
    ['mongo_callsite', 'mongo.*.collection.*.callsite.$.query.**'],
    ['mongo_collection', 'mongo.*.collection.$.query.*'],
    ['mongo_cmd', 'mongo.*.cmd.$.**'],
    ['grpc_bridge_method', 'cluster.*.grpc.*.$.**'],
    ['http_user_agent', 'http.*.user_agent.$.**'],
    ['virtual_cluster', 'vhost.*.vcluster.$.**'],
    ['fault_downstream_cluster', 'http.*.fault.$.**'],
    ['grpc_bridge_service', 'cluster.*.grpc.$.**'],
    ['tcp_prefix', 'tcp.$.**'],
    ['udp_prefix', 'udp.$.**'],
    ['clientssl_prefix', 'auth.clientssl.$.**'],
    ['ratelimit_prefix', 'ratelimit.$.**'],
    ['cluster_name', 'cluster.$.**'],
    ['ext_authz_prefix', 'cluster.*.ext_authz.$.**'],
    ['ext_authz_prefix', 'http.*.ext_authz.$.**'],
    ['http_conn_manager_prefix', 'http.$.**'],
    ['virtual_host', 'vhost.$.**'],
    ['mongo_prefix', 'mongo.$.**'],
    ['route', 'vhost.*.route.$.**'],
    ['thrift_prefix', 'thrift.$.**'],
    ['redis_prefix', 'redis.$.**'],
    ['local_http_ratelimit_prefix', '$.http_local_rate_limit.**'],
    ['local_network_ratelimit_prefix', 'local_rate_limit.$.**'],
    ['local_listener_ratelimit_prefix', 'listener_local_ratelimit.$.**'],
    ['dns_filter_prefix', 'dns_filter.$.**'],
    ['connection_limit_prefix', 'connection_limit.$.**'],
    ['rbac_prefix', '$.rbac.**'],
    ['google_grpc_client_prefix', 'grpc.$.**'],
  ];
  return rules.map(([tag, pattern]) => tokenTag(`envoy.${tag}`, pattern));
}
