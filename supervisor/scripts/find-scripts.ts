/** Finds what concerns modules in a message of configuration: filters, and what routes say of them. */
import type {
  Script,
  ScriptPerRoute,
} from '../../shared/api/generated/sluice/filters/http/script/v1/script.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { ModuleKind } from '../../shared/scripts/module-definition.ts';
import { typeNameOf } from '../config/type-name.ts';

export const SCRIPT_TYPE = 'sluice.filters.http.script.v1.Script';
export const SCRIPT_LOG_TYPE = 'sluice.access_loggers.script.v1.ScriptAccessLog';
export const SCRIPT_NETWORK_TYPE = 'sluice.filters.network.script.v1.ScriptNetworkFilter';
export const SCRIPT_BALANCER_TYPE = 'sluice.load_balancing_policies.script.v1.ScriptBalancer';
export const SCRIPT_CLUSTER_TYPE = 'sluice.clusters.script.v1.ScriptCluster';
export const ADMIN_PAGES_TYPE = 'sluice.admin_pages.script.v1.ScriptAdminPages';
export const SCRIPT_PER_ROUTE_TYPE = 'sluice.filters.http.script.v1.ScriptPerRoute';

/** The limit of what one message leads to. */
const FOUND_MAX = 10_000;

/** The largest messages of control planes, in which nothing of modules can be. */
const WITHOUT_SCRIPTS = new Set([
  'envoy.config.endpoint.v3.ClusterLoadAssignment',
  'envoy.extensions.transport_sockets.tls.v3.Secret',
]);
/** Of all fields of a cluster these alone may name modules. */
const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const FIELDS_OF_CLUSTERS = ['load_balancing_policy', 'cluster_type'];
const ROUTES = 'envoy.config.route.v3.RouteConfiguration';
const PER_FILTER = 'typed_per_filter_config';

/** `name`: of the filter, or of the one that a route means. */
export interface Named<Message> {
  readonly name: string;
  readonly message: Message;
}

/** The kind of module that a message of each type names. */
const KINDS: ReadonlyMap<string, ModuleKind> = new Map([
  [SCRIPT_TYPE, 'filter'],
  [SCRIPT_LOG_TYPE, 'access_logger'],
  [SCRIPT_BALANCER_TYPE, 'balancer'],
  [SCRIPT_NETWORK_TYPE, 'network_filter'],
  [SCRIPT_CLUSTER_TYPE, 'cluster_discovery'],
  [ADMIN_PAGES_TYPE, 'admin_pages'],
]);

export interface FoundModule extends Named<Script> {
  readonly kind: ModuleKind;
}

export interface FoundScripts {
  readonly modules: readonly FoundModule[];
  readonly ofRoutes: readonly Named<ScriptPerRoute>[];
}

/** `looksIntoRoutes`: whether there is a module that routes may have settings for. */
export function findScripts(message: unknown, looksIntoRoutes: boolean): FoundScripts {
  const finder = new ScriptFinder(looksIntoRoutes);
  finder.look(message, '');
  return finder;
}

class ScriptFinder implements FoundScripts {
  readonly modules: FoundModule[] = [];
  readonly ofRoutes: Named<ScriptPerRoute>[] = [];
  readonly #looksIntoRoutes: boolean;

  constructor(looksIntoRoutes: boolean) {
    this.#looksIntoRoutes = looksIntoRoutes;
  }

  look(value: unknown, name: string): void {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    if (Array.isArray(value)) return value.forEach((each) => this.look(each, name));
    const fields = value as Fields;
    const { '@type': url } = fields;
    if (typeof url === 'string' && this.#isDone(typeNameOf(url), fields, name)) return;
    const own = typeof fields['name'] === 'string' ? fields['name'] : name;
    for (const [key, each] of Object.entries(fields)) {
      if (key === PER_FILTER) this.#lookPerFilter(each);
      else this.look(each, key === 'typed_config' ? own : name);
    }
  }

  /** There is nothing to look for within. */
  #isDone(type: string, message: Fields, name: string): boolean {
    const kind = KINDS.get(type);
    if (kind !== undefined) add(this.modules, { kind, name, message });
    else if (type === SCRIPT_PER_ROUTE_TYPE) add(this.ofRoutes, { name, message });
    else if (type === CLUSTER) {
      for (const field of FIELDS_OF_CLUSTERS) this.look(message[field], name);
    } else return WITHOUT_SCRIPTS.has(type) || (type === ROUTES && !this.#looksIntoRoutes);
    return true;
  }

  #lookPerFilter(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, each] of Object.entries(value)) this.look(each, name);
  }
}

type Fields = JsonObject;

function add<Found>(found: Found[], one: Found): void {
  if (found.length < FOUND_MAX) found.push(one);
}
