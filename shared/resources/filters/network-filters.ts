/** Every network filter but the HTTP connection manager, one line each. */
import type { ConnectionLimit } from './network/connection-limit.ts';
import type { NetworkExtAuthz } from './network/ext-authz.ts';
import type { DirectResponse } from './network/direct-response.ts';
import type { EchoFilter } from './network/echo.ts';
import type { NetworkRateLimit } from './network/local-rate-limit.ts';
import type { AskedNetworkRateLimit } from './network/rate-limit.ts';
import type { NetworkRbac } from './network/rbac.ts';
import type { RedisProxy } from './network/redis-proxy.ts';
import type { SetFilterState } from './network/set-filter-state.ts';
import type { SniCluster } from './network/sni-cluster.ts';
import type { SniForwardProxy } from './network/sni-dynamic-forward-proxy.ts';
import type { TcpProxy } from './network/tcp-proxy.ts';

/** Filters that end a chain of bytes. */
export type TcpTerminalFilter = TcpProxy | RedisProxy | EchoFilter | DirectResponse;

/** Filters that only decide whether a connection may go on, in front of any terminal filter. */
export type GateFilter =
  | NetworkRateLimit
  | NetworkRbac
  | NetworkExtAuthz
  | AskedNetworkRateLimit
  | SniCluster
  | ConnectionLimit
  | SetFilterState
  | SniForwardProxy;

export type GateFilterKind = GateFilter['kind'];

export type GateFilterOf<Kind extends GateFilterKind> = Extract<
  GateFilter,
  { readonly kind: Kind }
>;
