/** The default export of a module, of whichever kind it is. */
import { type AccessLoggerDefinition, isAccessLogger } from './access-logger.ts';
import { type AdminPagesDefinition, isAdminPages } from './admin-pages.ts';
import { type BalancerDefinition, isBalancer } from './balancer.ts';
import { type ClusterDiscoveryDefinition, isClusterDiscovery } from './cluster-discovery.ts';
import { isNetworkFilter, type NetworkFilterDefinition } from './network-filter.ts';
import { definedFilter, type FilterDefinition } from './filter.ts';

interface Definitions {
  readonly filter: FilterDefinition;
  readonly access_logger: AccessLoggerDefinition;
  readonly balancer: BalancerDefinition;
  readonly network_filter: NetworkFilterDefinition;
  readonly cluster_discovery: ClusterDiscoveryDefinition;
  readonly admin_pages: AdminPagesDefinition;
}

export type ModuleKind = keyof Definitions;

export type DefinedModule = {
  readonly [Kind in ModuleKind]: { readonly kind: Kind; readonly definition: Definitions[Kind] };
}[ModuleKind];

/** What makes each kind, for whoever has forgotten it. */
export const DEFINED_BY: Readonly<Record<ModuleKind, string>> = {
  filter: 'defineFilter()',
  access_logger: 'defineAccessLogger()',
  balancer: 'defineBalancer()',
  network_filter: 'defineNetworkFilter()',
  cluster_discovery: 'defineClusterDiscovery()',
  admin_pages: 'defineAdminPages()',
};

/** Undefined: it is none of them. */
export function definedModule(value: unknown): DefinedModule | undefined {
  const filter = definedFilter(value);
  if (filter !== undefined) return { kind: 'filter', definition: filter };
  if (typeof value !== 'object' || value === null) return undefined;
  if (isAdminPages(value)) return { kind: 'admin_pages', definition: value };
  if (isClusterDiscovery(value)) return { kind: 'cluster_discovery', definition: value };
  if (!('create' in value) || typeof value.create !== 'function') return undefined;
  if (isAccessLogger(value)) return { kind: 'access_logger', definition: value };
  if (isBalancer(value)) return { kind: 'balancer', definition: value };
  if (isNetworkFilter(value)) return { kind: 'network_filter', definition: value };
  return undefined;
}

/** Throws for a module of another kind. */
export function definitionOf<Kind extends ModuleKind>(
  module: DefinedModule,
  kind: Kind,
): Definitions[Kind] {
  if (module.kind !== kind) throw new TypeError(`it is not made by ${DEFINED_BY[kind]}`);
  return module.definition as Definitions[Kind];
}
