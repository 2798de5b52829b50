/**
 * The state-of-the-world protocol over one stream: for each type it asks for all names that are
 * wanted, and answers every response with its nonce (ACK with the new version, NACK with the old one
 * and the reason).
 */
import type { Clock } from '../../shared/clock.ts';
import { ControlStream } from './control-stream.ts';
import { decodeResponse } from './decode-response.ts';
import { errorDetail, RequestEncoder, type Mux, type MuxOptions } from './discovery-request.ts';
import type { DiscoveredResource, DiscoveryUpdate } from './discovery-update.ts';
import { Interests } from './interests.ts';
import { RefusalPace } from './refusal-pace.ts';
import type { ResourceType } from './resource-type.ts';
import { ResourceTtls } from './resource-ttls.ts';
import { readResponseHead, type ResponseHead } from './response-head.ts';
import type { Subscription } from './subscription.ts';

/** What is known of one type on the stream. */
interface TypeState {
  readonly type: ResourceType;
  readonly interests: Interests;
  readonly ttls: ResourceTtls;
  readonly pace: RefusalPace;
  /** By name, for whoever comes to want what is known; not of types whose answers hold everything. */
  readonly known: Map<string, DiscoveredResource>;
  /** Of the last answer that was taken. */
  versionInfo: string;
  /** Settles when the answers so far are dealt with. */
  last: Promise<void>;
  /** Of the last answer on this stream. */
  nonce: string;
  isRequestWanted: boolean;
}

export class GrpcMux implements Mux {
  readonly #options: MuxOptions;
  readonly #encoder = new RequestEncoder('DiscoveryRequest');
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
    const added = state.interests.add(subscription);
    subscription.startStream();
    const { known, versionInfo } = state;
    const resources = subscription.names.flatMap((name) => known.get(name) ?? []);
    // What is there already is not sent again to a stream that has asked for it.
    if (resources.length > 0) {
      void subscription.deliverStream(() =>
        Promise.resolve({ versionInfo, resources, removed: [] }),
      );
    }
    if (subscription.names.length === 0 || added.length > 0) this.#want(state);
    this.#stream.start();
  }

  remove(subscription: Subscription): void {
    const state = this.#types.get(subscription.type.typeUrl);
    const gone = state?.interests.remove(subscription);
    if (state === undefined || gone === undefined) return;
    for (const name of gone) {
      state.known.delete(name);
      state.ttls.clear(name);
    }
    if (gone.length > 0) this.#want(state);
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
      known: new Map(),
      versionInfo: '',
      last: Promise.resolve(),
      nonce: '',
      isRequestWanted: true,
    };
    return state;
  }

  #opened(): void {
    this.#isNodeSent = false;
    for (const state of this.#types.values()) {
      state.nonce = '';
      this.#want(state);
    }
  }

  /** Answers of one type are taken one after the other, so that the last one holds. */
  async #receive(message: Buffer): Promise<void> {
    const head = readResponseHead(message, 'sotw');
    this.#stream.heard(head.identifier);
    const state = this.#types.get(head.typeUrl);
    if (state === undefined) {
      const text = `the control plane sent ${head.typeUrl}, which nobody asked for; it is ignored`;
      this.#options.log('warning', text);
      return;
    }
    const { generation } = this.#stream;
    state.nonce = head.nonce;
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
    const decoded = await decodeResponse(source, state.type, decoding).catch(
      (error: unknown) => error,
    );
    const refusal =
      decoded instanceof Error
        ? await this.#refuse(state, decoded)
        : await this.#take(state, decoded as DiscoveryUpdate);
    if (refusal === undefined) state.versionInfo = versionInfo;
    state.pace.pace(refusal !== undefined, () => {
      // An answer belongs to the stream that the response came on.
      if (generation === this.#stream.generation) this.#request(state, nonce, refusal);
    });
  }

  async #refuse({ interests }: TypeState, error: Error): Promise<string> {
    const all = [...interests.all];
    await Promise.all(all.map((each) => each.deliverStream(() => Promise.reject(error))));
    return error.message;
  }

  async #take(state: TypeState, update: DiscoveryUpdate): Promise<string | undefined> {
    const { type, interests, ttls, known } = state;
    for (const { name, ttlMs } of update.resources) ttls.set(name, ttlMs);
    for (const { name, ttlMs } of update.heartbeats ?? []) ttls.set(name, ttlMs);
    // Only to say that what is there stays.
    if (update.resources.length === 0 && (update.heartbeats ?? []).length > 0) return undefined;
    const deliveries = interests.distribute(update);
    const refusals = await Promise.all(
      deliveries.map(({ subscription, update: part }) =>
        subscription.deliverStream(() => Promise.resolve(part)),
      ),
    );
    const refusal = refusals.find((text) => text !== undefined);
    if (refusal === undefined && !type.isWholeSet) {
      for (const each of update.resources) if (interests.has(each.name)) known.set(each.name, each);
    }
    return refusal;
  }

  #expire({ interests, known, versionInfo }: TypeState, name: string): void {
    known.delete(name);
    const update = { versionInfo, resources: [], removed: [name] };
    for (const { subscription, update: part } of interests.distribute(update)) {
      void subscription.deliverStream(() => Promise.resolve(part));
    }
  }

  /** Requests of one turn of the loop for one type are one. */
  #want(state: TypeState): void {
    state.isRequestWanted = true;
    if (this.#isFlushPlanned || this.#stream.generation === 0) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      if (this.#stream.generation === 0) return;
      for (const each of this.#types.values()) {
        if (each.isRequestWanted) this.#request(each, each.nonce);
      }
    });
  }

  #request(state: TypeState, nonce: string, refusal?: string): void {
    const { node, source } = this.#options;
    const { interests, type } = state;
    state.isRequestWanted = false;
    // To ask for no name would be to ask for all.
    if (nonce === '' && interests.all.size === 0) return;
    this.#stream.send(() => {
      const message = {
        ...(state.versionInfo === '' ? {} : { version_info: state.versionInfo }),
        ...(this.#isNodeSent && source.nodeOnFirstMessageOnly ? {} : { node }),
        resource_names: interests.names,
        type_url: type.typeUrl,
        ...(nonce === '' ? {} : { response_nonce: nonce }),
        ...errorDetail(refusal),
      };
      this.#isNodeSent = true;
      return this.#encoder.encode(message);
    });
  }
}
