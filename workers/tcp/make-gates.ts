/**
 * Makes the gates of a chain from their resources: access by policy, by rate, and choice by name.
 */
import type {
  ConnectionLimit,
  FilterStateValue,
  GateFilter,
  NetworkRateLimit,
  NetworkRbac,
  SetFilterState,
} from '../../shared/resources/network-filters.ts';
import type { RateLimitBucket } from '../../shared/resources/routes/rate-limit-bucket.ts';
import { readBoolean } from '../../shared/runtime/read-runtime.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import {
  CONNECTION_LIMIT,
  NETWORK_LOCAL_RATE_LIMIT,
  NETWORK_RBAC,
  NETWORK_RBAC_SHADOW,
} from '../../shared/stats/templates/network-filters.ts';
import { compileRbacRules } from '../filters/common/rbac-engine.ts';
import type { TokenBucket } from '../filters/common/token-bucket.ts';
import { HeaderMap } from '../stream/header-map.ts';
import type { SharedCount } from '../loop/shared-count.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { Runtime } from '../loop/runtime.ts';
import { compileLineFormat, type Formatter } from '../substitution/compile-format.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { NetworkGate } from './gate.ts';
import { makeSniForwardProxy, type SniForwardProxyContext } from './sni-forward-proxy.ts';
import { FilterState } from '../net/filter-state.ts';
import { dottedPrefix } from '../../shared/stats/stat-scope.ts';

export interface NetworkGateContext extends SniForwardProxyContext {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly runtime: Runtime;
  /** Tokens that all workers take from. */
  sharedBucket(options: RateLimitBucket): TokenBucket;
  /** Connections that all workers count together for the filter at this place. */
  sharedCount(place: string): SharedCount;
}

export function makeGate(filter: GateFilter, context: NetworkGateContext): NetworkGate {
  switch (filter.kind) {
    case 'sni_cluster':
      return makeSniCluster();
    case 'network_local_ratelimit':
      return makeRateLimit(filter, context);
    case 'network_rbac':
      return makeRbac(filter, context);
    case 'connection_limit':
      return makeConnectionLimit(filter, context);
    case 'set_filter_state':
      return makeFilterState(filter);
    case 'sni_dynamic_forward_proxy':
      return makeSniForwardProxy(filter, context);
  }
}

/** The TCP proxy behind it goes to the cluster of the name that the client asked for, if it did. */
function makeSniCluster(): NetworkGate {
  return {
    onConnection({ connection }) {
      const { requestedServerName: name } = connection;
      if (name !== '') connection.upstreamCluster = name;
      return true;
    },
    release: () => undefined,
  };
}

function makeRateLimit(filter: NetworkRateLimit, context: NetworkGateContext): NetworkGate {
  const { loop, stats, runtime } = context;
  const base = stats.defineBlock(
    NETWORK_LOCAL_RATE_LIMIT,
    dottedPrefix(`local_rate_limit.${filter.statPrefix}`),
  );
  const bucket = context.sharedBucket(filter.bucket);
  const { enabled } = filter;
  return {
    onConnection() {
      if (!readBoolean(runtime.snapshot, enabled.runtimeKey, enabled.isDefault)) return true;
      if (bucket.take(loop.clock.ms)) return true;
      stats.increment(base + NETWORK_LOCAL_RATE_LIMIT.index.rate_limited);
      return false;
    },
    release: () => stats.releaseBlock(base),
  };
}

const NO_HEADERS = new HeaderMap();

function makeRbac(filter: NetworkRbac, { stats }: NetworkGateContext): NetworkGate {
  const { allowed, denied } = NETWORK_RBAC.index;
  const { shadow_allowed: shadowAllowed, shadow_denied: shadowDenied } = NETWORK_RBAC_SHADOW.index;
  const base = stats.defineBlock(NETWORK_RBAC, filter.statPrefix);
  const shadowBase = stats.defineBlock(NETWORK_RBAC_SHADOW, filter.shadowStatPrefix);
  const rules = filter.rules && compileRbacRules(filter.rules);
  const shadowRules = filter.shadowRules && compileRbacRules(filter.shadowRules);
  return {
    onFirstBytes(info) {
      if (shadowRules !== undefined) {
        const { isAllowed } = shadowRules(NO_HEADERS, info);
        stats.increment(shadowBase + (isAllowed ? shadowAllowed : shadowDenied));
      }
      if (rules === undefined) return true;
      const { isAllowed, policy } = rules(NO_HEADERS, info);
      stats.increment(base + (isAllowed ? allowed : denied));
      if (!isAllowed) {
        const name = (policy ?? 'none').replaceAll(' ', '_');
        info.connection.terminationDetails = `rbac_access_denied_matched_policy[${name}]`;
      }
      return isAllowed;
    },
    release() {
      stats.releaseBlock(base);
      stats.releaseBlock(shadowBase);
    },
  };
}

function makeConnectionLimit(filter: ConnectionLimit, context: NetworkGateContext): NetworkGate {
  const { stats, runtime } = context;
  const { maxConnections, delayMs, enabled } = filter;
  const { active_connections: active, limited_connections: limited } = CONNECTION_LIMIT.index;
  const base = stats.defineBlock(
    CONNECTION_LIMIT,
    dottedPrefix(`connection_limit.${filter.statPrefix}`),
  );
  const count = context.sharedCount(filter.place);
  return {
    onConnection() {
      const isOn = readBoolean(runtime.snapshot, enabled.runtimeKey, enabled.isDefault);
      if (isOn && !count.tryOpen(maxConnections)) {
        stats.increment(base + limited);
        return delayMs > 0 ? delayMs : false;
      }
      if (!isOn) count.add(1);
      stats.add(base + active, 1);
      return true;
    },
    onEnd() {
      count.add(-1);
      stats.subtract(base + active, 1);
    },
    release: () => stats.releaseBlock(base),
  };
}

interface CompiledValue extends FilterStateValue {
  readonly formatter: Formatter;
}

function makeFilterState(filter: SetFilterState): NetworkGate {
  const compile = (values: readonly FilterStateValue[]): readonly CompiledValue[] =>
    values.map((value) => ({ ...value, formatter: compileLineFormat(value.format) }));
  const onConnection = compile(filter.onNewConnection);
  const onTlsHandshake = compile(filter.onTlsHandshake);
  const onFirstBytes = compile(filter.onFirstBytes);
  const readOnly = new WeakMap<object, Set<string>>();
  const keep = (values: readonly CompiledValue[], info: StreamInfo): void => {
    const { connection } = info;
    for (const { key, formatter, skipsEmpty, isReadOnly, isHashable } of values) {
      const value = formatter(info);
      const kept = readOnly.get(connection);
      if ((skipsEmpty && value === '') || kept?.has(key) === true) continue;
      if (isReadOnly) readOnly.set(connection, new Set([...(kept ?? []), key]));
      (connection.filterState ??= new FilterState()).keep(key, value, isHashable);
      if (key === CLUSTER_KEY) connection.upstreamCluster = value;
    }
  };
  return {
    onConnection(info) {
      keep(onConnection, info);
      return true;
    },
    onFirstBytes(info) {
      if (info.connection.tls !== undefined) keep(onTlsHandshake, info);
      keep(onFirstBytes, info);
      return true;
    },
    release: () => undefined,
  };
}

/** Where the TCP proxy behind it takes the connection. */
const CLUSTER_KEY = 'envoy.tcp_proxy.cluster';
