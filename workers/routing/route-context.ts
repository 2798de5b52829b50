/** What every route of one virtual host shares while routes are compiled. */
import { isFilterSwitch } from '../../shared/resources/filters/declare-filter.ts';
import type { FilterSettings } from '../stream/route.ts';
import type {
  Route,
  RouteConfigurationResource,
  VirtualHost,
  WeightedCluster,
} from '../../shared/resources/routes/route.ts';
import { JOINED_IN_REQUESTS, JOINED_IN_RESPONSES } from '../stream/joined-headers.ts';
import type { Runtime } from '../loop/runtime.ts';
import { compileHeaderMutations } from './header-mutations.ts';
import type { HeaderMutation } from './header-mutations.ts';

export interface RouteContext {
  readonly table: RouteConfigurationResource;
  readonly virtualHost: VirtualHost;
  readonly runtime: Runtime;
}

/**
 * The header changes of all levels in Envoy's order: weighted cluster, route, virtual host,
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

export function filterSettingsOf(
  { table, virtualHost }: RouteContext,
  route: Route,
  weighted?: WeightedCluster,
): FilterSettings {
  const levels = [weighted, route, virtualHost, table].filter((level) => level !== undefined);
  const leastSpecificFirst = levels
    .toReversed()
    .flatMap((level) => [...level.typedPerFilterConfig]);
  const ofRoute = route.action.kind === 'cluster' ? route.action.cors : undefined;
  return {
    perFilterConfig: new Map(leastSpecificFirst.filter(([, config]) => !isFilterSwitch(config))),
    switches: new Map(
      leastSpecificFirst.map(([name, config]) => [
        name,
        !(isFilterSwitch(config) && config.disabled),
      ]),
    ),
    filterConfigs: levels
      .map(({ typedPerFilterConfig }) => typedPerFilterConfig)
      .filter((config) => config.size > 0),
    corsPolicies: [ofRoute, virtualHost.cors].filter((policy) => policy !== undefined),
  };
}

/**
 * What all levels say to one filter, the most specific first; a level that only turns it on or off
 * says nothing.
 */
export function configsOf(
  { filterConfigs }: FilterSettings,
  filterName: string,
): readonly unknown[] {
  return filterConfigs
    .map((level) => level.get(filterName))
    .filter((config) => config !== undefined && !isFilterSwitch(config));
}

export const NO_FILTER_SETTINGS: FilterSettings = {
  perFilterConfig: new Map(),
  switches: new Map(),
  filterConfigs: [],
  corsPolicies: [],
};
