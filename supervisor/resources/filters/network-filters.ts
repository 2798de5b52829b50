/** Every network filter but those that check clusters of routes, one line each. */
import { TCP_PROXY_FILTER } from '../tcp/tcp-proxy.ts';
import { CONNECTION_LIMIT_FILTER } from './network/connection-limit.ts';
import { DIRECT_RESPONSE_FILTER } from './network/direct-response.ts';
import { ECHO_FILTER } from './network/echo.ts';
import { EXT_AUTHZ_NETWORK_FILTER } from './network/ext-authz.ts';
import { GEOIP_NETWORK_FILTER } from './network/geoip.ts';
import { LOCAL_RATE_LIMIT_NETWORK_FILTER } from './network/local-rate-limit.ts';
import { METADATA_EXCHANGE_FILTER } from './network/metadata-exchange.ts';
import { RATE_LIMIT_NETWORK_FILTER } from './network/rate-limit.ts';
import { RBAC_NETWORK_FILTER } from './network/rbac.ts';
import { REDIS_PROXY_FILTER } from './network/redis-proxy.ts';
import { SCRIPT_NETWORK_FILTER } from './network/script.ts';
import { SET_FILTER_STATE_NETWORK_FILTER } from './network/set-filter-state.ts';
import { SNI_CLUSTER_FILTER } from './network/sni-cluster.ts';
import { SNI_FORWARD_PROXY_FILTER } from './network/sni-dynamic-forward-proxy.ts';

export const NETWORK_FILTERS = {
  tcp_proxy: TCP_PROXY_FILTER,
  redis_proxy: REDIS_PROXY_FILTER,
  echo: ECHO_FILTER,
  direct_response: DIRECT_RESPONSE_FILTER,
  sni_dynamic_forward_proxy: SNI_FORWARD_PROXY_FILTER,
  sni_cluster: SNI_CLUSTER_FILTER,
  network_local_ratelimit: LOCAL_RATE_LIMIT_NETWORK_FILTER,
  connection_limit: CONNECTION_LIMIT_FILTER,
  set_filter_state: SET_FILTER_STATE_NETWORK_FILTER,
  network_ext_authz: EXT_AUTHZ_NETWORK_FILTER,
  network_ratelimit: RATE_LIMIT_NETWORK_FILTER,
  network_rbac: RBAC_NETWORK_FILTER,
  network_geoip: GEOIP_NETWORK_FILTER,
  network_script: SCRIPT_NETWORK_FILTER,
  metadata_exchange: METADATA_EXCHANGE_FILTER,
};
