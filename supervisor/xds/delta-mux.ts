/**
 * The incremental protocol over one stream: says which names come and go, keeps the version of every
 * resource that was taken to name it after a reconnect, and answers every response by its nonce. A
 * refused response leaves the versions as they were.
 */
import type { Clock } from '../../shared/clock.ts';
import { ControlStream } from './control-stream.ts';
import { decodeDeltaResponse } from './decode-response.ts';
import { errorDetail, RequestEncoder, type Mux, type MuxOptions } from './discovery-request.ts';
import type { DiscoveredResource, DiscoveryUpdate } from './discovery-update.ts';
import { Interests } from './interests.ts';
import { RefusalPace } from './refusal-pace.ts';
import type { ResourceType } from './resource-type.ts';
import { ResourceTtls } from './resource-ttls.ts';
import { readResponseHead, type ResponseHead } from './response-head.ts';
import type { Subscription } from './subscription.ts';

interface TypeState {
  readonly type: ResourceType;
  readonly interests: Interests;
  readonly ttls: ResourceTtls;
  readonly pace: RefusalPace;
  /** Version by name of what was taken. */
  readonly versions: Map<string, string>;
  /** By name, for whoever comes to want what is known; not of types that are wanted as a whole. */
  readonly known: Map<string, DiscoveredResource>;
  /** What the control plane was not told yet. */
  readonly subscribe: Set<string>;
  readonly unsubscribe: Set<string>;
  versionInfo: string;
  /** Settles when the answers so far are dealt with. */
  last: Promise<void>;
  /** Nothing of this type was said on this stream. */
  isFirst: boolean;
}

/** What a name stands for where all resources are wanted beside named ones. */
const WILDCARD = '*';

export class DeltaMux implements Mux {
  readonly #options: MuxOptions;
  readonly #encoder = new RequestEncoder('DeltaDiscoveryRequest');
  readonly #types = new Map<string, TypeState>();
  readonly #stream: ControlStream;
  #isNodeSent = false;
  #isFlushPlanned = false;

  constructor(options: MuxOptions) {
    this.#options = options;
    this.#stream = new ControlStream(options, {
      opened: () => this.#opened(),
      received: (message) => this.#receive(message),
      ended: (reason) => {
        for (const { interests } of this.#types.values()) {
          for (const subscription of interests.all) subscription.streamFailed(reason);
        }
      },
    });
  }

  add(subscription: Subscription): void {
    const { type } = subscription;
    let state = this.#types.get(type.typeUrl);
    if (state === undefined) {
      state = this.#newState(type, this.#options.clock);
      this.#types.set(type.typeUrl, state);
    }
    for (const name of state.interests.add(subscription)) {
      state.unsubscribe.delete(name);
      state.subscribe.add(name);
    }
    subscription.startStream();
    const { known, versionInfo } = state;
    const resources = subscription.names.flatMap((name) => known.get(name) ?? []);
    if (resources.length > 0) {
      void subscription.deliverStream(() =>
        Promise.resolve({ versionInfo, resources, removed: [] }),
      );
    }
    this.#plan();
    this.#stream.start();
  }

  remove(subscription: Subscription): void {
    const state = this.#types.get(subscription.type.typeUrl);
    const gone = state?.interests.remove(subscription);
    if (state === undefined || gone === undefined) return;
    for (const name of gone) {
      this.#forget(state, name);
      if (!state.subscribe.delete(name)) state.unsubscribe.add(name);
    }
    this.#plan();
  }

  close(): void {
    this.#stream.close();
    for (const { ttls, pace } of this.#types.values()) {
      ttls.close();
      pace.close();
    }
  }

  #newState(type: ResourceType, clock: Clock): TypeState {
    const state: TypeState = {
      type,
      interests: new Interests(),
      ttls: new ResourceTtls(clock, (name) => this.#expire(state, name)),
      pace: new RefusalPace(clock),
      versions: new Map(),
      known: new Map(),
      subscribe: new Set(),
      unsubscribe: new Set(),
      versionInfo: '',
      last: Promise.resolve(),
      isFirst: true,
    };
    return state;
  }

  #opened(): void {
    this.#isNodeSent = false;
    for (const state of this.#types.values()) {
      state.isFirst = true;
      state.unsubscribe.clear();
      state.subscribe.clear();
      for (const name of state.interests.names) state.subscribe.add(name);
    }
    this.#plan();
  }

  /** Answers of one type are taken one after the other, so that the last one holds. */
  async #receive(message: Buffer): Promise<void> {
    const head = readResponseHead(message, 'delta');
    this.#stream.heard(head.identifier);
    const state = this.#types.get(head.typeUrl);
    if (state === undefined) {
      const text = `the control plane sent ${head.typeUrl}, which nobody asked for; it is ignored`;
      this.#options.log('warning', text);
      return;
    }
    const { generation } = this.#stream;
    state.last = state.last.then(() => this.#answer(state, message, head, generation));
    await state.last;
  }

  async #answer(
    state: TypeState,
    message: Buffer,
    { versionInfo, nonce }: ResponseHead,
    generation: number,
  ): Promise<void> {
    const { decoding } = this.#options;
    const source = { name: state.type.typeUrl, format: 'pb', content: message } as const;
    const decoded = await decodeDeltaResponse(source, state.type, decoding).catch(
      (error: unknown) => error,
    );
    const refusal =
      decoded instanceof Error
        ? await this.#refuse(state, decoded)
        : await this.#take(state, decoded as DiscoveryUpdate);
    if (refusal === undefined) state.versionInfo = versionInfo;
    state.pace.pace(refusal !== undefined, () => {
      if (generation === this.#stream.generation) this.#request(state, nonce, refusal);
    });
  }

  async #refuse({ interests }: TypeState, error: Error): Promise<string> {
    const all = [...interests.all];
    await Promise.all(all.map((each) => each.deliverStream(() => Promise.reject(error))));
    return error.message;
  }

  async #take(state: TypeState, update: DiscoveryUpdate): Promise<string | undefined> {
    const { interests, ttls } = state;
    for (const { name, ttlMs } of update.resources) ttls.set(name, ttlMs);
    for (const { name, ttlMs } of update.heartbeats ?? []) ttls.set(name, ttlMs);
    if (update.resources.length + update.removed.length === 0 && update.heartbeats !== undefined) {
      return undefined;
    }
    const refusals = await Promise.all(
      interests
        .distribute(update)
        .map(({ subscription, update: part }) =>
          subscription.deliverStream(() => Promise.resolve(part)),
        ),
    );
    const refusal = refusals.find((text) => text !== undefined);
    if (refusal === undefined) this.#remember(state, update);
    return refusal;
  }

  #remember(state: TypeState, update: DiscoveryUpdate): void {
    const { interests, versions, known } = state;
    for (const resource of update.resources) {
      const isNamed = interests.has(resource.name);
      if (!isNamed && !interests.isWildcard) continue;
      versions.set(resource.name, resource.versionInfo);
      if (isNamed) known.set(resource.name, resource);
    }
    for (const name of update.removed === 'rest' ? [] : update.removed) this.#forget(state, name);
  }

  #forget({ versions, known, ttls }: TypeState, name: string): void {
    versions.delete(name);
    known.delete(name);
    ttls.clear(name);
  }

  #expire(state: TypeState, name: string): void {
    this.#forget(state, name);
    const update = { versionInfo: state.versionInfo, resources: [], removed: [name] };
    for (const { subscription, update: part } of state.interests.distribute(update)) {
      void subscription.deliverStream(() => Promise.resolve(part));
    }
  }

  /** What changes in one turn of the loop is said at once. */
  #plan(): void {
    if (this.#isFlushPlanned || this.#stream.generation === 0) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      if (this.#stream.generation === 0) return;
      for (const state of this.#types.values()) {
        const isNew = state.isFirst && state.interests.all.size > 0;
        if (isNew || state.subscribe.size > 0 || state.unsubscribe.size > 0) {
          this.#request(state, '');
        }
      }
    });
  }

  #request(state: TypeState, nonce: string, refusal?: string): void {
    const { node, source } = this.#options;
    this.#stream.send(() => {
      const { interests, type, isFirst, versions } = state;
      const subscribe = [...state.subscribe];
      // All that there are need no name, unless some are named beside them.
      if (isFirst && interests.isWildcard && subscribe.length > 0) subscribe.unshift(WILDCARD);
      const isNodeNeeded = !this.#isNodeSent || (isFirst && !source.nodeOnFirstMessageOnly);
      const message = {
        ...(isNodeNeeded ? { node } : {}),
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
      this.#isNodeSent = true;
      return this.#encoder.encode(message);
    });
  }
}
