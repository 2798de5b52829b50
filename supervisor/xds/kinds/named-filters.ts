/** Settings of HTTP filters that connection managers and clusters name instead of holding them. */
import { typeNameOf } from '../../config/type-name.ts';
import { scopePrefix } from '../../../shared/stats/stat-scope.ts';
import type { HttpFilter as HttpFilterMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';

import { unexpectedType } from '../../resources/filters/http/discovered.ts';
import { RESOURCE_TYPES } from '../../resolved/resource-kinds.ts';
import type { NamedSecret } from '../../resolved/named-secret.ts';
import type { NamedFilter } from '../../resolved/resolved-bootstrap.ts';
import type { Definition } from '../../stats/stat-store.ts';
import { NamedResources, SharedResource } from './named-resources.ts';
import { DiscoveryStats } from '../subscriptions/discovery-stats.ts';
import type { DiscoveredResource, DiscoveryUpdate } from '../subscriptions/discovery-update.ts';
import type { NamedOptions } from './discovery-options.ts';
import { HeldSecrets } from './held-secrets.ts';
import { isSameMessage } from './same-message.ts';

const { workers: WORKERS } = RESOURCE_TYPES.extension;

export interface FilterDiscoveryOptions extends NamedOptions {
  readonly secrets: NamedResources<NamedSecret>;
}

export function discoverFilters(options: FilterDiscoveryOptions): NamedResources<NamedFilter> {
  return new NamedResources({
    open: (filter) => new SharedFilter(filter, options),
    target: ({ name }) => `shared target FilterConfigSubscription init ${name}`,
    // What is said to serve at once is not waited for.
    waits: ({ waits }) => waits,
  });
}

class SharedFilter extends SharedResource {
  readonly #filter: NamedFilter;
  readonly #options: FilterDiscoveryOptions;
  readonly #secrets: HeldSecrets;
  readonly #reloads: Definition;
  readonly #failures: Definition;
  readonly #conflicts: Definition;
  #isAnswered = false;

  constructor(filter: NamedFilter, options: FilterDiscoveryOptions) {
    super();
    this.#filter = filter;
    this.#options = options;
    this.#secrets = new HeldSecrets(options.secrets);
    const { statStore, sources } = options;
    const kind = filter.isUpstream ? 'upstream_http_filter' : 'http_filter';
    const prefix = scopePrefix(`extension_config_discovery.${kind}.${filter.name}.`);
    this.#reloads = statStore.holdNamed('counter', `${prefix}config_reload`);
    this.#failures = statStore.holdNamed('counter', `${prefix}config_fail`);
    this.#conflicts = statStore.holdNamed('counter', `${prefix}config_conflict`);
    this.subscribe((interest) => sources.open(interest), {
      kind: 'extension',
      source: filter.source,
      names: [filter.name],
      stats: DiscoveryStats.at(statStore, prefix),
    });
  }

  override async update(update: DiscoveryUpdate): Promise<string | undefined> {
    this.#isAnswered = true;
    const refusal = await this.#change(update);
    if (refusal !== undefined) this.refused();
    return refusal;
  }

  override refused(): void {
    this.#isAnswered = true;
    this.#count(this.#failures);
  }

  override settled(): void {
    // Waited for in vain.
    if (!this.#isAnswered && !this.isClosed) this.refused();
    super.settled();
  }

  async #change({ resources, removed }: DiscoveryUpdate): Promise<string | undefined> {
    const { name, key } = this.#filter;
    const [found] = resources;
    const isGone = removed !== 'rest' && removed.includes(name);
    // What a connection manager has as its default serves again.
    if (found === undefined && isGone) {
      this.#options.store.remove('extension', key);
      await this.#options.apply([WORKERS.remove(key)]);
      this.#count(this.#reloads);
      return undefined;
    }
    if (found === undefined || resources.length !== 1) {
      return `Unexpected number of resources in ExtensionConfigDS response: ${resources.length}`;
    }
    if (found.name !== name) {
      return `Unexpected resource name in ExtensionConfigDS response: ${found.name}`;
    }
    return found.fault ?? (await this.#take(found));
  }

  protected override ended(): void {
    const { key } = this.#filter;
    this.#secrets.release();
    if (this.#options.store.remove('extension', key)) {
      void this.#options.apply([WORKERS.remove(key)]);
    }
    for (const each of [this.#reloads, this.#failures, this.#conflicts]) {
      this.#options.statStore.release(each);
    }
  }

  /** An update may be on its way to the workers when the last user goes. */
  #count({ base }: Definition): void {
    if (!this.isClosed) this.#options.statStore.increment(base);
  }

  async #take({ message, versionInfo }: DiscoveredResource): Promise<string | undefined> {
    const { store, resolver, clock } = this.#options;
    const { name, key, types, isUpstream } = this.#filter;
    const present = store.get('extension', key)?.active;
    if (present !== undefined && isSameMessage(present.message, message)) return undefined;
    const filter = message as HttpFilterMessage;
    const type = typeNameOf(filter.typed_config?.['@type'] ?? '');
    if (!types.includes(type)) return unexpectedType(type, types);
    const resolution = resolver.filter({ ...filter, name }, isUpstream);
    if (resolution.error !== undefined) return resolution.error;
    const { resolved, secrets } = resolution;
    this.#secrets.hold(secrets);
    const [refusal] = await this.#options.apply([WORKERS.put(key, resolved)]);
    if (refusal !== undefined) return refusal;
    const lastUpdatedMs = clock.wallMs();
    store.putActive('extension', key, { message, versionInfo, lastUpdatedMs, resolved });
    this.#count(this.#reloads);
    return undefined;
  }
}
