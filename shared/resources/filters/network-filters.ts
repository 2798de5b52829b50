/** Every network filter but the HTTP connection manager, one line each. */
import { type DeclaredBy, templatesOf } from './declare-filter.ts';
import { CONNECTION_LIMIT_DECLARATION } from './network/connection-limit.ts';
import { DIRECT_RESPONSE_DECLARATION } from './network/direct-response.ts';
import { ECHO_DECLARATION } from './network/echo.ts';
import { METADATA_EXCHANGE_DECLARATION } from './network/metadata-exchange.ts';
import { NETWORK_EXT_AUTHZ_DECLARATION } from './network/ext-authz.ts';
import { NETWORK_GEOIP_DECLARATION } from './network/geoip.ts';
import { NETWORK_LOCAL_RATE_LIMIT_DECLARATION } from './network/local-rate-limit.ts';
import { NETWORK_RATE_LIMIT_DECLARATION } from './network/rate-limit.ts';
import { NETWORK_RBAC_DECLARATION } from './network/rbac.ts';
import { REDIS_PROXY_DECLARATION } from './network/redis-proxy.ts';
import { NETWORK_SCRIPT_DECLARATION } from './network/script.ts';
import { SET_FILTER_STATE_DECLARATION } from './network/set-filter-state.ts';
import { SNI_CLUSTER_DECLARATION } from './network/sni-cluster.ts';
import { SNI_FORWARD_PROXY_DECLARATION } from './network/sni-dynamic-forward-proxy.ts';
import { THRIFT_PROXY_DECLARATION } from './network/thrift-proxy.ts';
import { TCP_PROXY_DECLARATION } from './network/tcp-proxy.ts';

const TERMINAL_FILTERS = [
  TCP_PROXY_DECLARATION,
  REDIS_PROXY_DECLARATION,
  THRIFT_PROXY_DECLARATION,
  ECHO_DECLARATION,
  DIRECT_RESPONSE_DECLARATION,
] as const;

const GATE_FILTERS = [
  NETWORK_LOCAL_RATE_LIMIT_DECLARATION,
  NETWORK_RBAC_DECLARATION,
  NETWORK_EXT_AUTHZ_DECLARATION,
  NETWORK_RATE_LIMIT_DECLARATION,
  SNI_CLUSTER_DECLARATION,
  CONNECTION_LIMIT_DECLARATION,
  SET_FILTER_STATE_DECLARATION,
  SNI_FORWARD_PROXY_DECLARATION,
  NETWORK_GEOIP_DECLARATION,
  NETWORK_SCRIPT_DECLARATION,
  METADATA_EXCHANGE_DECLARATION,
] as const;

/** Filters that end a chain of bytes. */
export type TcpTerminalFilter = DeclaredBy<typeof TERMINAL_FILTERS>;

/** Filters that only decide whether a connection may go on, in front of any terminal filter. */
export type GateFilter = DeclaredBy<typeof GATE_FILTERS>;

export const NETWORK_FILTER_TEMPLATES = templatesOf([...TERMINAL_FILTERS, ...GATE_FILTERS]);
