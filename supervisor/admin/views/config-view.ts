/**
 * What `/config_dump` reads, answered from the resource store. Nothing is copied before it is asked
 * for.
 */
import type { Bootstrap } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { ClusterHostsResource } from '../../../shared/resources/clusters/cluster.ts';
import type { HttpConnectionManager } from '../../../shared/resources/listener.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { ConfigView, DumpedListener, DumpedResource } from '../admin-context.ts';
import type { RefusedUpdate, UnreadyTargets } from '../../store/discovery-status.ts';
import { mapLazily } from '../config-dump/lazy-list.ts';
import { inlineRoutes, inlineScopes, namedScopes } from './routes-in-listeners.ts';
import { endpointMessage, endpointMessageInSteps } from './endpoint-message.ts';
import { connectionManagersOf } from '../../store/lingering-listener.ts';
import { RESOURCE_TYPES, type ResourceKind } from '../../resolved/resource-kinds.ts';
import type {
  ResourceEntry,
  ResourceStore,
  ResourceVersion,
  ShownVersion,
} from '../../store/resource-store.ts';

export interface ConfigViewParts {
  readonly store: ResourceStore;
  readonly bootstrap: Bootstrap;
  /** Stands in the place of the bootstrap's own node. */
  readonly node: JsonObject;
  /** Unix milliseconds. */
  readonly loadedAtMs: number;
  /** The hosts that a cluster has now. */
  assignmentOf(cluster: string): ClusterHostsResource;
  /** Components that are not ready yet. */
  unreadyTargets(): readonly UnreadyTargets[];
  /** Before the server serves its listeners are shown as warming. */
  isStarting(): boolean;
}

export function makeConfigView(parts: ConfigViewParts): ConfigView {
  const { store, bootstrap, node, loadedAtMs } = parts;
  const { node: _ownNode, ...withoutNode } = bootstrap;
  return {
    history: store.history,
    changes: () => store.changes,
    bootstrap: () => ({
      message: { node, ...(withoutNode as unknown as JsonObject) },
      lastUpdatedMs: loadedAtMs,
    }),
    clusters: () => ({
      versionInfo: store.updateVersion('cluster'),
      static: select(store, 'cluster', 'static', 'active'),
      dynamicActive: select(store, 'cluster', 'dynamic', 'active'),
      dynamicWarming: select(store, 'cluster', 'dynamic', 'warming'),
    }),
    listeners: () => ({
      versionInfo: store.updateVersion('listener'),
      static: select(store, 'listener', 'static', 'active'),
      dynamic: dynamicListeners(store, parts.isStarting()),
    }),
    routes: () => ({
      isUsed: hasConnectionManager(store),
      static: [...select(store, 'route_configuration', 'static', 'active'), ...inlineRoutes(store)],
      dynamic: select(store, 'route_configuration', 'dynamic', 'active'),
      inlineScopes: [...inlineScopes(store)],
      dynamicScopes: [...namedScopes(store)],
    }),
    extensions: () => ({
      isUsed: usesDiscoveredFilter(store),
      filters: select(store, 'extension', 'dynamic', 'active'),
    }),
    secrets: () => ({
      static: select(store, 'secret', 'static', 'active'),
      dynamicActive: select(store, 'secret', 'dynamic', 'active'),
      dynamicWarming: select(store, 'secret', 'dynamic', 'warming'),
    }),
    endpoints: () => ({
      static: endpointsOf(store, 'static', (name) => parts.assignmentOf(name)),
      dynamic: endpointsOf(store, 'dynamic', (name) => parts.assignmentOf(name)),
    }),
    unreadyTargets: () => parts.unreadyTargets(),
  };
}

function hasConnectionManager(store: ResourceStore): boolean {
  return (
    connectionManagers(store).next().done === false ||
    [...store.lingering()].some((version) => version.hasConnectionManager)
  );
}

function usesDiscoveredFilter(store: ResourceStore): boolean {
  const uses = (kind: 'listener' | 'cluster'): boolean =>
    [...store.list(kind)].some(({ active, warming }) =>
      [active, warming].some((version) => (version?.resolved.namedFilters ?? []).length > 0),
    );
  return (
    uses('listener') ||
    uses('cluster') ||
    [...store.lingering()].some((version) => version.hasDiscoveredFilter)
  );
}

function* connectionManagers(store: ResourceStore): Generator<HttpConnectionManager> {
  for (const { active, warming } of store.list('listener')) {
    for (const version of [active, warming]) {
      if (version !== undefined) yield* connectionManagersOf(version.resolved.resource);
    }
  }
}

const STATES = ['active', 'warming', 'draining'] as const;
type State = (typeof STATES)[number];

function select<Kind extends ResourceKind>(
  store: ResourceStore,
  kind: Kind,
  source: 'static' | 'dynamic',
  state: State,
): Iterable<DumpedResource> {
  const versions: (readonly [ResourceEntry<Kind>, ShownVersion])[] = [];
  for (const entry of store.list(kind)) {
    const version = entry.source === source ? entry[state] : undefined;
    if (version !== undefined && !version.isOwn) versions.push([entry, version]);
  }
  return mapLazily(versions, ([entry, version]) => dumped(entry, version));
}

/** The store's key is not the name. */
const hasKeyOfItsOwn: ReadonlySet<ResourceKind> = new Set([
  'route_configuration',
  'secret',
  'extension',
]);

function dumped<Kind extends ResourceKind>(
  { kind, name, refused }: ResourceEntry<Kind>,
  { message, versionInfo, lastUpdatedMs }: ShownVersion,
): DumpedResource {
  const own = (message as { readonly name?: unknown }).name;
  return {
    // Keys of routes and secrets in the store tell apart what has one name.
    name: hasKeyOfItsOwn.has(kind) ? (typeof own === 'string' ? own : '') : name,
    versionInfo,
    lastUpdatedMs,
    get message() {
      return { '@type': RESOURCE_TYPES[kind].typeUrl, ...message };
    },
    ...(refused === undefined ? {} : { error: withType(kind, refused) }),
  };
}

function withType(kind: ResourceKind, refused: RefusedUpdate): RefusedUpdate {
  const { failedMessage } = refused;
  if (failedMessage === undefined) return refused;
  return { ...refused, failedMessage: { '@type': RESOURCE_TYPES[kind].typeUrl, ...failedMessage } };
}

function dynamicListeners(store: ResourceStore, isStarting: boolean): readonly DumpedListener[] {
  const listeners: DumpedListener[] = [];
  const entries = [...store.list('listener')].filter(({ source }) => source === 'dynamic');
  // In Envoy's order.
  for (const entry of entries.toSorted((one, other) => rankOf(one) - rankOf(other))) {
    // What was refused stands beside the states, not in one.
    const { refused, ...taken } = entry;
    const states = STATES.map((state) => {
      const version = entry[state];
      const shown = isStarting && state === 'active' ? 'warming' : state;
      return version === undefined ? {} : { [shown]: dumped(taken, version) };
    });
    const error = refused === undefined ? {} : { error: withType('listener', refused) };
    listeners.push(Object.assign({ name: entry.name }, ...states, error) as DumpedListener);
  }
  return listeners;
}

function rankOf(entry: ResourceEntry<'listener'>): number {
  const at = STATES.findIndex((state) => entry[state] !== undefined);
  return at < 0 ? STATES.length : at;
}

/** Hosts of clusters, written as an assignment as Envoy writes them. */
function endpointsOf(
  store: ResourceStore,
  wanted: 'static' | 'dynamic',
  assignmentOf: ConfigViewParts['assignmentOf'],
): Iterable<DumpedResource> {
  const clusters: { readonly name: string; readonly active: ResourceVersion<'cluster'> }[] = [];
  for (const { source, name, active } of store.list('cluster')) {
    if (source !== wanted || active === undefined) continue;
    clusters.push({ name, active });
  }
  return mapLazily(clusters, ({ name, active }) => {
    const { discovery } = active.resolved;
    // The assignment's own name.
    const asked = discovery?.kind === 'endpoints' ? discovery.serviceName : name;
    const options = { name: asked, isByName: discovery?.kind === 'dns' };
    return {
      name: asked,
      versionInfo: '',
      lastUpdatedMs: active.lastUpdatedMs,
      get message() {
        const message = endpointMessage(assignmentOf(name), options);
        return { '@type': RESOURCE_TYPES.endpoints.typeUrl, ...message };
      },
      *messageInSteps() {
        const message = yield* endpointMessageInSteps(assignmentOf(name), options);
        return { '@type': RESOURCE_TYPES.endpoints.typeUrl, ...message };
      },
    };
  });
}
