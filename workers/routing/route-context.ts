/** What every route of one virtual host shares while routes are compiled. */
import type {
  PerFilterConfig,
  Route,
  RouteConfigurationResource,
  VirtualHost,
  WeightedCluster,
} from '../../shared/resources/route.ts';
import { JOINED_IN_REQUESTS, JOINED_IN_RESPONSES } from '../http/joined-headers.ts';
import type { Runtime } from '../runtime.ts';
import { compileHeaderMutations } from './header-mutations.ts';
import type { HeaderMutation } from './header-mutations.ts';

export interface RouteContext {
  readonly table: RouteConfigurationResource;
  readonly virtualHost: VirtualHost;
  readonly runtime: Runtime;
}

/**
 * The header changes of all levels in the reference's order: weighted cluster, route, virtual host,
 * table; or weighted cluster, table, virtual host, route where the most specific one wins.
 */
export function mutationsOf(
  direction: 'request' | 'response',
  { table, virtualHost }: RouteContext,
  route: Route,
  weighted?: WeightedCluster,
): HeaderMutation | undefined {
  const levels = [route, virtualHost, table];
  if (table.mostSpecificHeaderMutationsWins) levels.reverse();
  const all = weighted === undefined ? levels : [weighted, ...levels];
  if (direction === 'request') {
    return compileHeaderMutations(
      all.map((level) => level.requestHeaders),
      JOINED_IN_REQUESTS,
    );
  }
  const mutation = compileHeaderMutations(
    all.map((level) => level.responseHeaders),
    JOINED_IN_RESPONSES,
  );
  // Formats read the response from the stream, which may not know it yet.
  return (
    mutation &&
    ((headers, info) => {
      info.responseHeaders = headers;
      mutation(headers, info);
    })
  );
}

/** Each filter's most specific configuration. */
export function perFilterConfigOf(
  { table, virtualHost }: RouteContext,
  route: Route,
  weighted?: WeightedCluster,
): PerFilterConfig {
  return {
    ...table.typedPerFilterConfig,
    ...virtualHost.typedPerFilterConfig,
    ...route.typedPerFilterConfig,
    ...weighted?.typedPerFilterConfig,
  };
}
