/**
 * The sections of `/config_dump` in Envoy's order: for each its message type, its single
 * fields and its repeated fields, whose elements are made one by one while the page is written.
 */
import { timestamp } from '../timestamp.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { AdminContext, ConfigView, DumpedListener, DumpedResource } from '../admin-context.ts';
import type { RefusedUpdate } from '../../store/discovery-status.ts';
import {
  compact,
  errorState,
  list,
  resourceMessage,
  versionInfo,
  type DumpItem,
  type DumpList,
} from './dump-elements.ts';
import { mapLazily } from './lazy-list.ts';

export interface DumpSection {
  /** Without the package: `ClustersConfigDump`. */
  readonly type: string;
  /** Fields that are no lists; their numbers are below those of the lists. */
  readonly fields: JsonObject;
  readonly lists: readonly DumpList[];
}

export const DUMP_PACKAGE = 'envoy.admin.v3';

export function dumpSections(
  context: AdminContext,
  options: { readonly includeEndpoints: boolean },
): DumpSection[] {
  return [
    bootstrapSection(context),
    clustersSection(context),
    ...extensionsSections(context),
    ...(options.includeEndpoints ? endpointsSections(context) : []),
    listenersSection(context),
    ...routesSections(context),
    secretsSection(context),
  ];
}

function bootstrapSection(context: AdminContext): DumpSection {
  const { message, lastUpdatedMs } = context.config.bootstrap();
  return {
    type: 'BootstrapConfigDump',
    fields: { bootstrap: message, last_updated: timestamp(lastUpdatedMs) },
    lists: [],
  };
}

function clustersSection(context: AdminContext): DumpSection {
  const clusters = context.config.clusters();
  return {
    type: 'ClustersConfigDump',
    fields: versionInfo(clusters.versionInfo),
    lists: [
      list('static_clusters', 'StaticCluster', clusters.static, 'cluster'),
      list('dynamic_active_clusters', 'DynamicCluster', clusters.dynamicActive, 'cluster'),
      list('dynamic_warming_clusters', 'DynamicCluster', clusters.dynamicWarming, 'cluster'),
    ],
  };
}

/** None without clusters. */
function endpointsSections(context: AdminContext): readonly DumpSection[] {
  const endpoints = context.config.endpoints();
  const hasAny = [endpoints.static, endpoints.dynamic].some((each) => !isEmpty(each));
  return hasAny ? [endpointsSection(endpoints)] : [];
}

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _ of items) return false;
  return true;
}

function endpointsSection(endpoints: ReturnType<ConfigView['endpoints']>): DumpSection {
  const items = (resources: Iterable<DumpedResource>): Iterable<DumpItem> =>
    mapLazily(resources, (resource) => {
      const version = versionInfo(resource.versionInfo);
      const { name, messageInSteps } = resource;
      return {
        name,
        make: () => ({ ...version, endpoint_config: resource.message }),
        ...(messageInSteps && {
          *makeInSteps() {
            return { ...version, endpoint_config: yield* messageInSteps() };
          },
        }),
      };
    });
  return {
    type: 'EndpointsConfigDump',
    fields: {},
    lists: [
      {
        field: 'static_endpoint_configs',
        element: 'StaticEndpointConfig',
        items: items(endpoints.static),
      },
      {
        field: 'dynamic_endpoint_configs',
        element: 'DynamicEndpointConfig',
        items: items(endpoints.dynamic),
      },
    ],
  };
}

function extensionsSections(context: AdminContext): DumpSection[] {
  const { isUsed, filters } = context.config.extensions();
  if (!isUsed) return [];
  return [
    {
      type: 'EcdsConfigDump',
      fields: {},
      lists: [list('ecds_filters', 'EcdsFilterConfig', filters, 'ecds_filter')],
    },
  ];
}

function listenersSection(context: AdminContext): DumpSection {
  const listeners = context.config.listeners();
  const dynamic = [...listeners.dynamic];
  return {
    type: 'ListenersConfigDump',
    fields: versionInfo(listeners.versionInfo),
    lists: [
      list('static_listeners', 'StaticListener', listeners.static, 'listener'),
      {
        field: 'dynamic_listeners',
        element: 'DynamicListener',
        items: [
          ...dynamic.map(listenerItem),
          ...dynamic.flatMap(({ error }) => namelessError(error)),
        ],
      },
    ],
  };
}

/** What was refused is shown whatever name is asked for. */
function listenerItem(given: DumpedListener): DumpItem {
  const { error: found, ...rest } = given;
  const error = found?.isDuplicate === true ? undefined : found;
  const listener = error === undefined ? rest : given;
  const { name } = listener;
  const item = { name, make: () => dynamicListener(listener) };
  if (error === undefined) return item;
  return { ...item, makeUnasked: () => compact({ name, error_state: errorState(error) }) };
}

function dynamicListener(listener: DumpedListener): JsonObject {
  const state = (resource: DumpedResource | undefined): JsonObject | undefined =>
    resource === undefined ? undefined : resourceMessage(resource, 'listener');
  return compact({
    name: listener.name === '' ? undefined : listener.name,
    active_state: state(listener.active),
    warming_state: state(listener.warming),
    draining_state: state(listener.draining),
    error_state: errorState(listener.error),
  });
}

/** Envoy names what was refused once with its listener and once by itself. */
function namelessError(error: RefusedUpdate | undefined): DumpItem[] {
  if (error === undefined) return [];
  const { failedMessage: failed_configuration, details } = error;
  const make = (): JsonObject => ({ error_state: compact({ failed_configuration, details }) });
  return [{ name: '', make, makeUnasked: make }];
}

function routesSections(context: AdminContext): DumpSection[] {
  const routes = context.config.routes();
  if (!routes.isUsed) return [];
  return [
    {
      type: 'ScopedRoutesConfigDump',
      fields: {},
      lists: [
        {
          field: 'inline_scoped_route_configs',
          element: 'InlineScopedRouteConfigs',
          items: mapLazily(routes.inlineScopes, scopesItem),
        },
        {
          field: 'dynamic_scoped_route_configs',
          element: 'DynamicScopedRouteConfigs',
          items: mapLazily(routes.dynamicScopes, scopesItem),
        },
      ],
    },
    {
      type: 'RoutesConfigDump',
      fields: {},
      lists: [
        list('static_route_configs', 'StaticRouteConfig', routes.static, 'route_config'),
        list('dynamic_route_configs', 'DynamicRouteConfig', routes.dynamic, 'route_config'),
      ],
    },
  ];
}

function scopesItem({ name, versionInfo, message, lastUpdatedMs }: DumpedResource): DumpItem {
  const { scoped_route_configs: scopes } = message;
  return {
    name,
    namesIn: 'scoped_route_configs',
    make: () =>
      compact({
        name,
        version_info: versionInfo === '' ? undefined : versionInfo,
        scoped_route_configs: Array.isArray(scopes) && scopes.length > 0 ? scopes : undefined,
        last_updated: timestamp(lastUpdatedMs),
      }),
  };
}

function secretsSection(context: AdminContext): DumpSection {
  const secrets = context.config.secrets();
  const items = (resources: Iterable<DumpedResource>, isDynamic: boolean): Iterable<DumpItem> =>
    mapLazily(resources, (resource) => ({
      name: resource.name,
      make: () =>
        compact({
          name: resource.name,
          version_info: isDynamic && resource.versionInfo !== '' ? resource.versionInfo : undefined,
          last_updated: isDynamic ? timestamp(resource.lastUpdatedMs) : undefined,
          secret: resource.message,
        }),
    }));
  return {
    type: 'SecretsConfigDump',
    fields: {},
    lists: [
      { field: 'static_secrets', element: 'StaticSecret', items: items(secrets.static, false) },
      {
        field: 'dynamic_active_secrets',
        element: 'DynamicSecret',
        items: items(secrets.dynamicActive, true),
      },
      {
        field: 'dynamic_warming_secrets',
        element: 'DynamicSecret',
        items: items(secrets.dynamicWarming, true),
      },
    ],
  };
}
