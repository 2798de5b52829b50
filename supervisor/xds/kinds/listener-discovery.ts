/** Takes listeners from a control plane: checks each, and hands it to those who serve it. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { randomUUID } from 'node:crypto';
import type { Listener } from '../../../shared/api/generated/envoy/config/listener/v3/listener.ts';
import type { Steps } from '../../loop/loop-turns.ts';
import type { RefusedUpdate } from '../../store/discovery-status.ts';
import type { ResolvedListener } from '../../resolved/resolved-bootstrap.ts';
import {
  removalsOf,
  withOwnName,
  withoutDuplicates,
  type DiscoveredResource,
  type DiscoveryConsumer,
  type DiscoveryUpdate,
} from '../subscriptions/discovery-update.ts';
import type { DynamicListeners } from './dynamic-listeners.ts';
import type { CollectionOptions } from './discovery-options.ts';
import { isSameMessage } from './same-message.ts';

export interface ListenerDiscoveryOptions extends CollectionOptions {
  readonly listeners: DynamicListeners;
  /**
   * Says that listeners of this direction were told to drain: none is added or changed any more.
   */
  readonly isStopped: (direction: ResolvedListener['resource']['direction']) => boolean;
}

/** Neither resolved nor refused: there is nothing to do. */
interface Resolution {
  readonly resolved?: ResolvedListener;
  readonly refusal?: string;
}

export class ListenerDiscovery implements DiscoveryConsumer {
  readonly #options: ListenerDiscoveryOptions;

  constructor(options: ListenerDiscoveryOptions) {
    this.#options = options;
  }

  /**
   * What is good of an update is taken, and what it leaves out removed, even when others are
   * refused.
   */
  async update(update: DiscoveryUpdate): Promise<string | undefined> {
    const { swap, turns } = this.#options;
    const messages = update.resources.map(({ message }) => message);
    const clusters = await turns.run(swap.hold(messages, this.#replacing(update)));
    const refusal = await this.#take(update);
    clusters.release();
    return refusal;
  }

  /** Where a listener goes, another may take its place under a new name. */
  #replacing(update: DiscoveryUpdate): readonly JsonObject[] {
    const { store } = this.#options;
    const isSwap = this.#removals(update).length > 0;
    const isInUse = (name: string): boolean => store.get('listener', name)?.active !== undefined;
    const replacing = update.resources.filter(({ name }) => isSwap || isInUse(name));
    return replacing.map(({ message }) => message);
  }

  refused(): void {}

  settled(): void {
    this.#options.settled();
  }

  async #take(update: DiscoveryUpdate): Promise<string | undefined> {
    const { store, listeners, turns, log } = this.#options;
    const { first: resources, duplicates } = withoutDuplicates(update.resources.map(withName));
    const removals = this.#removals({ ...update, resources });
    const resolutions = await turns.run(this.#resolveAll(resources));
    // What an earlier update was refused for is over.
    for (const { name } of store.list('listener')) store.forgive('listener', name);
    // An address that moves from one listener to another is free before it is taken.
    for (const name of removals) await listeners.remove(name);
    const refusals: string[] = [];
    let changes = removals.length;
    for (const { resource, resolved, refusal } of resolutions) {
      const outcome = resolved === undefined ? refusal : await this.#put(resource, resolved);
      if (outcome === undefined) {
        if (resolved !== undefined) changes += 1;
        continue;
      }
      refusals.push(`${resource.name}: ${outcome}`);
      this.#refuse(resource, outcome);
    }
    for (const duplicate of duplicates) {
      const reason = `duplicate listener ${duplicate.name} found`;
      refusals.push(`${duplicate.name}: ${reason}`);
      this.#refuse(duplicate, reason, { isDuplicate: true });
    }
    if (changes > 0) store.setUpdateVersion('listener', update.versionInfo);
    if (refusals.length > 0) return `Error adding/updating listener(s) ${refusals.join('\n')}\n`;
    log('info', `lds: ${resources.length} listener(s), ${removals.length} removed`);
    return undefined;
  }

  *#resolveAll(
    resources: readonly DiscoveredResource[],
  ): Steps<readonly (Resolution & { readonly resource: DiscoveredResource })[]> {
    const all: (Resolution & { readonly resource: DiscoveredResource })[] = [];
    for (const resource of resources) {
      all.push({ resource, ...this.#resolve(resource) });
      yield;
    }
    return all;
  }

  #resolve({ name, message, fault }: DiscoveredResource): Resolution {
    const { store, resolver, isStopped, log } = this.#options;
    const known = store.get('listener', name);
    if (known?.source === 'static') {
      log('debug', `lds: listener '${name}' is skipped: one of the bootstrap has that name`);
      return {};
    }
    if ((message as Listener).api_listener !== undefined) {
      log(
        'warning',
        `lds: listener '${name}' is not added: an API listener can only be in the bootstrap`,
      );
      return {};
    }
    const present = known?.warming ?? known?.active;
    if (fault !== undefined) return { refusal: fault };
    if (present !== undefined && isSameMessage(present.message, message)) return {};
    const { resolved, error } = resolver.listener(message);
    if (error !== undefined) return { refusal: error };
    const { resource } = resolved;
    if (isStopped(resource.direction)) {
      log('warning', `lds: listener '${name}' is not taken: listeners were told to drain`);
      return {};
    }
    return { resolved: { ...resolved, resource: { ...resource, name } } };
  }

  async #put(
    { name, message, versionInfo }: DiscoveredResource,
    resolved: ResolvedListener,
  ): Promise<string | undefined> {
    const { clock, listeners } = this.#options;
    return await listeners.put(name, {
      message,
      versionInfo,
      lastUpdatedMs: clock.wallMs(),
      resolved,
    });
  }

  #removals(update: DiscoveryUpdate): readonly string[] {
    const { store } = this.#options;
    const isThere = (name: string): boolean => {
      const entry = store.get('listener', name);
      if (entry === undefined || entry.source === 'static') return false;
      return entry.active !== undefined || entry.warming !== undefined;
    };
    const gone = removalsOf(
      update,
      [...store.list('listener')].map(({ name }) => name),
    );
    return gone.filter(isThere);
  }

  #refuse(
    { name, message }: DiscoveredResource,
    details: string,
    how: Pick<RefusedUpdate, 'isDuplicate'> = {},
  ): void {
    const { store, clock, log } = this.#options;
    log('warning', `lds: listener '${name}' config rejected: ${details}`);
    store.refuse('listener', name, {
      details,
      lastAttemptMs: clock.wallMs(),
      failedMessage: message,
      ...how,
    });
  }
}

function withName(given: DiscoveredResource): DiscoveredResource {
  const resource = withOwnName(given);
  return resource.name === '' ? { ...resource, name: randomUUID() } : resource;
}
