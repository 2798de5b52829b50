/**
 * Routes and scopes that listeners hold themselves or get from elsewhere, as `/config_dump` shows
 * them.
 */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { DumpedResource } from '../admin-context.ts';
import type { RouteConfiguration } from '../../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { InlineScopes } from '../../resolved/resolved-bootstrap.ts';
import type { ResourceStore } from '../../store/resource-store.ts';

const ROUTES = 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration';
const SCOPE = 'type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration';

/** Routes in listeners of control planes; those of the bootstrap are in the store by themselves. */
export function* inlineRoutes(store: ResourceStore): Generator<DumpedResource> {
  for (const { source, lastUpdatedMs, routes } of versionsOf(store)) {
    if (source !== 'dynamic') continue;
    for (const message of routes) {
      yield {
        name: message.name ?? '',
        versionInfo: '',
        lastUpdatedMs,
        message: { '@type': ROUTES, ...(message as unknown as JsonObject) },
      };
    }
  }
}

export function* inlineScopes(store: ResourceStore): Generator<DumpedResource> {
  for (const { lastUpdatedMs, scopes: all } of versionsOf(store)) {
    for (const { name, scopes } of all) {
      yield { name, versionInfo: '', lastUpdatedMs, message: dumpedScopes(scopes) };
    }
  }
}

export function* namedScopes(store: ResourceStore): Generator<DumpedResource> {
  for (const { active } of store.list('scoped_routes')) {
    if (active === undefined) continue;
    const { message, versionInfo, lastUpdatedMs } = active;
    const { name, scoped_route_configs: scopes } = message as {
      readonly name: string;
      readonly scoped_route_configs: readonly object[];
    };
    yield { name, versionInfo, lastUpdatedMs, message: dumpedScopes(scopes) };
  }
}

function dumpedScopes(scopes: readonly object[]): JsonObject {
  const typed = scopes.map((scope) => ({ '@type': SCOPE, ...(scope as JsonObject) }));
  return { scoped_route_configs: typed };
}

interface Inline {
  readonly source: 'static' | 'dynamic';
  readonly lastUpdatedMs: number;
  readonly routes: readonly RouteConfiguration[];
  readonly scopes: readonly InlineScopes[];
}

function* versionsOf(store: ResourceStore): Generator<Inline> {
  for (const { source, active, warming } of store.list('listener')) {
    for (const version of [active, warming]) {
      if (version === undefined) continue;
      const { lastUpdatedMs, resolved } = version;
      yield { source, lastUpdatedMs, routes: resolved.inlineRoutes, scopes: resolved.inlineScopes };
    }
  }
  for (const { lastUpdatedMs, inline } of store.lingering()) {
    yield { source: 'dynamic', lastUpdatedMs, ...inline };
  }
}
