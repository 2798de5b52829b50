/**
 * Resolves the network filters of a filter chain and checks their order. A new filter is a file of
 * its own and one entry of the registry.
 */
import type { Filter } from '../../../shared/api/generated/envoy/config/listener/v3/listener_components.ts';
import type { HttpConnectionManager as ManagerMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { NetworkFilter } from '../../../shared/resources/listener.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveConnectionManager } from '../http/connection-manager.ts';
import type { Scope } from '../scope.ts';
import { type NetworkFilterFactory } from '../filters/network-filter-row.ts';
import { thriftProxyFilter } from '../filters/network/thrift/thrift-proxy.ts';
import { NETWORK_FILTERS } from '../filters/network-filters.ts';

const FIELDS = knownFields<Filter>(['name', 'typed_config']);

export class NetworkFilterResolver {
  readonly #registry: ExtensionRegistry<NetworkFilter, NetworkFilterFactory>;

  constructor(isKnownCluster: (name: string) => boolean) {
    this.#registry = new ExtensionRegistry<NetworkFilter, NetworkFilterFactory>(
      'envoy.filters.network',
      'network filter',
      {
        http_connection_manager: {
          ...extension(
            'envoy.filters.network.http_connection_manager',
            'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
            (message: ManagerMessage, scope) =>
              resolveConnectionManager(message, isKnownCluster, scope),
          ),
          isTerminal: true,
        },
        thrift_proxy: thriftProxyFilter(isKnownCluster),
        ...NETWORK_FILTERS,
      },
    );
  }

  get category(): string {
    return this.#registry.category;
  }

  /** The network filters that there are. */
  entries(): ReturnType<ExtensionRegistry<NetworkFilter>['entries']> {
    return this.#registry.entries();
  }

  resolve(messages: readonly Filter[] | undefined, scope: Scope): readonly NetworkFilter[] {
    const filters: NetworkFilter[] = [];
    const last = (messages ?? []).length - 1;
    for (const [index, message] of (messages ?? []).entries()) {
      const place = scope.at(index);
      refuseOtherFields(message, FIELDS, place);
      if (this.#registry.leavesOut(message, index === last, place)) continue;
      const found = this.#registry.find(message, place);
      if (found === undefined) continue;
      const { factory, config } = found;
      const { name = '' } = message;
      if (factory.isTerminal !== (index === last)) reportOrder(name, factory, place);
      const filter = factory.resolve(config, place.at('typed_config'), name);
      if (filter !== undefined) filters.push(filter);
    }
    return aimAtClusters(filters);
  }
}

function reportOrder(name: string, factory: NetworkFilterFactory, scope: Scope): void {
  scope.error(
    'conflict',
    factory.isTerminal
      ? `Error: terminal filter named ${name} of type ${factory.name} must be the last filter in a network filter chain.`
      : `Error: non-terminal filter named ${name} of type ${factory.name} is the last filter in a network filter chain.`,
  );
}

/** Tells filters that wait for names where the last one takes connections. */
function aimAtClusters(filters: readonly NetworkFilter[]): readonly NetworkFilter[] {
  const last = filters.at(-1);
  const clusters = last?.kind === 'tcp_proxy' ? last.clusters.map(({ name }) => name) : [];
  return filters.map((filter) =>
    filter.kind === 'sni_dynamic_forward_proxy' ? { ...filter, clusters } : filter,
  );
}
