/** Routes and scopes that listeners hold themselves or get from elsewhere, as `/config_dump` shows them. */
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { DumpedResource } from '../admin/admin-context.ts';
import type { ResourceStore, ResourceVersion } from '../resources/resource-store.ts';

const ROUTES = 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration';
const SCOPE = 'type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration';

/** Of listeners from elsewhere; those of the bootstrap are in the store by themselves. */
export function* inlineRoutes(store: ResourceStore): Generator<DumpedResource> {
  for (const { source, version } of versionsOf(store)) {
    if (source !== 'dynamic') continue;
    for (const message of version.resolved.inlineRoutes) {
      yield {
        name: message.name ?? '',
        versionInfo: '',
        lastUpdatedMs: version.lastUpdatedMs,
        message: { '@type': ROUTES, ...(message as unknown as JsonObject) },
      };
    }
  }
}

export function* inlineScopes(store: ResourceStore): Generator<DumpedResource> {
  for (const { version } of versionsOf(store)) {
    for (const { name, scopes } of version.resolved.inlineScopes) {
      const { lastUpdatedMs } = version;
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

function* versionsOf(store: ResourceStore): Generator<{
  readonly source: 'static' | 'dynamic';
  readonly version: ResourceVersion<'listener'>;
}> {
  for (const { source, active, warming } of store.list('listener')) {
    for (const version of [active, warming]) {
      if (version !== undefined) yield { source, version };
    }
  }
  for (const version of store.lingering()) yield { source: 'dynamic', version };
}
