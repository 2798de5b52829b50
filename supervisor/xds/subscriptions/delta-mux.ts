/**
 * The incremental protocol over one stream: says which names come and go, keeps the version of
 * every resource that was taken to name it after a reconnect, and answers every response by its
 * nonce. A refused response leaves the versions as they were.
 */
import { decodeDeltaResponse } from './decode-response.ts';
import { errorDetail, type MuxOptions } from './discovery-request.ts';
import type { DiscoveryUpdate } from './discovery-update.ts';
import type { RequestCause, TypeState } from './mux-state.ts';
import { StreamMux } from './stream-mux.ts';
import type { Subscription } from './subscription.ts';

interface DeltaState extends TypeState {
  /** Version by name of what was taken. */
  readonly versions: Map<string, string>;
  /** What the control plane was not told yet. */
  readonly subscribe: Set<string>;
  readonly unsubscribe: Set<string>;
  /** Names that are wanted beside all that there are, for the next stream. */
  readonly demanded: Set<string>;
  /** Nothing of this type was said on this stream. */
  isFirst: boolean;
}

/** What a name stands for where all resources are wanted beside named ones. */
const WILDCARD = '*';

/** Names that are remembered for another stream. */
const DEMAND_LIMIT = 10_000;

export class DeltaMux extends StreamMux<DeltaState> {
  constructor(options: MuxOptions) {
    super(options, {
      kind: 'delta',
      request: 'DeltaDiscoveryRequest',
      decode: decodeDeltaResponse,
    });
  }

  protected override withState(common: TypeState): DeltaState {
    return {
      ...common,
      versions: new Map(),
      subscribe: new Set(),
      unsubscribe: new Set(),
      demanded: new Set(),
      isFirst: true,
    };
  }

  protected override streamBegan(state: DeltaState): void {
    state.isFirst = true;
    state.unsubscribe.clear();
    state.subscribe.clear();
    for (const name of state.interests.names) state.subscribe.add(name);
    for (const name of state.demanded) state.subscribe.add(name);
  }

  protected override demanded({ subscribe, demanded }: DeltaState, name: string): void {
    subscribe.add(name);
    // The oldest go: a subscriber that wants them asks again.
    const [oldest] = demanded;
    if (demanded.size >= DEMAND_LIMIT && oldest !== undefined) demanded.delete(oldest);
    demanded.add(name);
  }

  protected override wanted(
    { subscribe, unsubscribe }: DeltaState,
    _subscription: Subscription,
    added: readonly string[],
  ): void {
    for (const name of added) {
      unsubscribe.delete(name);
      subscribe.add(name);
    }
  }

  protected override unwanted(
    { subscribe, unsubscribe }: DeltaState,
    gone: readonly string[],
  ): void {
    for (const name of gone) if (!subscribe.delete(name)) unsubscribe.add(name);
  }

  protected override taken(state: DeltaState, update: DiscoveryUpdate): void {
    const { interests, versions, known } = state;
    for (const resource of update.resources) {
      if (!interests.covers(resource.name)) continue;
      versions.set(resource.name, resource.versionInfo);
      if (interests.has(resource.name)) known.set(resource.name, resource);
    }
    for (const name of update.removed === 'rest' ? [] : update.removed) this.forget(state, name);
  }

  protected override forget(state: DeltaState, name: string): void {
    super.forget(state, name);
    state.versions.delete(name);
  }

  protected override isDue({ isFirst, interests, subscribe, unsubscribe }: DeltaState): boolean {
    const isNew = isFirst && interests.all.size > 0;
    return isNew || subscribe.size > 0 || unsubscribe.size > 0;
  }

  protected override message(
    state: DeltaState,
    { nonce, refusal }: RequestCause,
  ): Readonly<Record<string, unknown>> {
    const { interests, type, isFirst, versions } = state;
    const subscribe = [...state.subscribe];
    // All that there are need no name, unless some are named beside them.
    const isBeside = isFirst && interests.isWildcard && type.kind !== 'virtual_host';
    if (isBeside && subscribe.length > 0) subscribe.unshift(WILDCARD);
    const message = {
      type_url: type.typeUrl,
      resource_names_subscribe: subscribe,
      resource_names_unsubscribe: [...state.unsubscribe],
      ...(isFirst ? { initial_resource_versions: Object.fromEntries(versions) } : {}),
      ...(nonce === '' ? {} : { response_nonce: nonce }),
      ...errorDetail(refusal),
    };
    state.subscribe.clear();
    state.unsubscribe.clear();
    state.isFirst = false;
    return message;
  }
}
