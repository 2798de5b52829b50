/**
 * A version of a listener that only old connections use, as pages show it while it drains: as
 * texts, since a listener that changes often has many versions that nobody asks for.
 */
import type { RouteConfiguration } from '../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { HttpConnectionManager, ListenerResource } from '../../shared/resources/listener.ts';
import type { InlineScopes } from '../resolved/resolved-bootstrap.ts';
import type { ResourceVersion, ShownVersion } from './resource-store.ts';

/** What it held itself. */
interface Inline {
  readonly routes: readonly RouteConfiguration[];
  readonly scopes: readonly InlineScopes[];
}

export class LingeringListener implements ShownVersion {
  readonly versionInfo: string;
  readonly lastUpdatedMs: number;
  readonly hasConnectionManager: boolean;
  /** Settings of one of its HTTP filters come from elsewhere. */
  readonly hasDiscoveredFilter: boolean;
  readonly #message: string;
  readonly #inline: string;

  /** `routes` are those that are still in use. */
  constructor(
    { message, versionInfo, lastUpdatedMs, resolved }: ResourceVersion<'listener'>,
    routes: readonly RouteConfiguration[] = resolved.inlineRoutes,
  ) {
    const managers = [...connectionManagersOf(resolved.resource)];
    this.versionInfo = versionInfo;
    this.lastUpdatedMs = lastUpdatedMs;
    this.hasConnectionManager = managers.length > 0;
    this.hasDiscoveredFilter = resolved.namedFilters.length > 0;
    this.#message = JSON.stringify(message);
    const inline: Inline = { routes, scopes: resolved.inlineScopes };
    this.#inline = JSON.stringify(inline);
  }

  get message(): JsonObject {
    return JSON.parse(this.#message) as JsonObject;
  }

  get inline(): Inline {
    return JSON.parse(this.#inline) as Inline;
  }
}

export function* connectionManagersOf({
  filterChains,
  defaultFilterChain,
}: ListenerResource): Generator<HttpConnectionManager> {
  for (const chain of [...filterChains, defaultFilterChain]) {
    const last = chain?.networkFilters.at(-1);
    if (last?.kind === 'http_connection_manager') yield last;
  }
}
