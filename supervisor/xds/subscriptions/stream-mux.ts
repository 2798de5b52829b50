/**
 * Subscriptions that share one stream to a control plane, whichever protocol it speaks: keeps by
 * type who wants what and what is known, takes answers of a type one after the other, and answers
 * each with its nonce on the stream that it came on. What a request says is the protocol's matter.
 */
import { AnswerOrder } from './answer-order.ts';
import { ControlStream } from '../../services/control-stream.ts';
import { RequestEncoder, type Mux, type MuxOptions } from './discovery-request.ts';
import { withCanonicalNames, type DiscoveryUpdate } from './discovery-update.ts';
import { canonicalName } from '../../resolved/resource-locator.ts';
import { HeldAnswers, type Answered } from './held-answers.ts';
import { Interests } from './interests.ts';
import {
  isTaken,
  type MuxProtocol,
  type Outcome,
  type RequestCause,
  type TypeState,
} from './mux-state.ts';
import { RefusalPace } from './refusal-pace.ts';
import type { ResourceType } from '../../resolved/resource-kinds.ts';
import { ResourceTtls } from './resource-ttls.ts';
import { readResponseHead, type ResponseHead } from '../../services/response-head.ts';
import type { Subscription } from './subscription.ts';

export abstract class StreamMux<State extends TypeState> implements Mux {
  protected readonly options: MuxOptions;
  readonly #protocol: MuxProtocol;
  readonly #encoder: RequestEncoder;
  readonly #types = new Map<string, State>();
  readonly #stream: ControlStream;
  readonly #order = new AnswerOrder();
  #isNodeSent = false;
  #isFlushPlanned = false;
  #takesClusters = false;

  constructor(options: MuxOptions, protocol: MuxProtocol) {
    this.options = options;
    this.#protocol = protocol;
    const { decoding, node } = options;
    this.#encoder = new RequestEncoder(decoding.catalog, protocol.request, node);
    this.#stream = new ControlStream(options, {
      opened: () => {
        this.#isNodeSent = false;
        for (const state of this.#types.values()) {
          state.isRequestQueued = false;
          state.held.take();
          this.streamBegan(state);
        }
        this.plan();
      },
      received: (message) => this.#receive(message),
      ended: (reason) => {
        for (const { interests } of this.#types.values()) {
          for (const subscription of interests.all) subscription.streamFailed(reason);
        }
      },
    });
  }

  protected abstract withState(common: TypeState): State;

  /** Nothing of this type was said on the new stream. */
  protected abstract streamBegan(state: State): void;

  /** `added`: the subscription's names that nobody wanted before. */
  protected abstract wanted(
    state: State,
    subscription: Subscription,
    added: readonly string[],
  ): void;

  protected abstract unwanted(state: State, gone: readonly string[]): void;

  /** One more name is wanted beside all that there are. */
  protected demanded(_state: State, _name: string): void {}

  protected abstract taken(state: State, update: DiscoveryUpdate): void;

  protected abstract isDue(state: State): boolean;

  /** What goes out now; the state changes as if it had arrived. */
  protected abstract message(state: State, cause: RequestCause): Readonly<Record<string, unknown>>;

  add(subscription: Subscription): void {
    const { type } = subscription;
    let state = this.#types.get(type.typeUrl);
    if (state === undefined) this.#types.set(type.typeUrl, (state = this.#newState(type)));
    this.wanted(state, subscription, state.interests.add(subscription));
    subscription.startStream();
    const { known, versionInfo } = state;
    const resources = subscription.names.flatMap((name) => {
      const resource = known.get(canonicalName(name));
      return resource === undefined ? [] : { ...resource, name };
    });
    // What is there already is not sent again to a stream that has asked for it.
    if (resources.length > 0) {
      void subscription.deliverStream(() =>
        Promise.resolve({ versionInfo, resources, removed: [] }),
      );
    }
    this.plan();
    this.#stream.start();
  }

  remove(subscription: Subscription): void {
    const state = this.#types.get(subscription.type.typeUrl);
    const gone = state?.interests.remove(subscription);
    if (state === undefined || gone === undefined) return;
    for (const name of gone) this.forget(state, name);
    this.unwanted(state, gone);
    this.plan();
  }

  want(subscription: Subscription, name: string): void {
    const state = this.#types.get(subscription.type.typeUrl);
    if (state === undefined) return;
    this.demanded(state, name);
    this.plan();
  }

  hold(type: ResourceType, isHeld: boolean): void {
    const state = this.#types.get(type.typeUrl);
    if (state === undefined || isHeld === state.isHeld) return;
    state.isHeld = isHeld;
    // What an answer that is being taken has to say may stand for what waits.
    if (!isHeld) void state.last.then(() => this.#release(state));
  }

  #release(state: State): void {
    if (state.isHeld) return;
    for (const { nonce, refusal } of state.held.take()) this.#request(state, nonce, refusal);
  }

  close(): void {
    this.#stream.close();
    for (const { ttls, pace } of this.#types.values()) {
      ttls.close();
      pace.close();
    }
  }

  protected forget({ known, ttls }: State, name: string): void {
    known.delete(name);
    ttls.clear(name);
  }

  #newState(type: ResourceType): State {
    const { clock } = this.options;
    const state: State = this.withState({
      type,
      interests: new Interests(),
      ttls: new ResourceTtls(clock, (name) => this.#expire(state, name)),
      pace: new RefusalPace(clock),
      known: new Map(),
      versionInfo: '',
      nonce: '',
      isRequestQueued: false,
      isHeld: false,
      held: new HeldAnswers(this.#protocol.kind === 'delta'),
      last: Promise.resolve(),
    });
    return state;
  }

  /** Answers of one type are taken one after the other, so that the last one holds. */
  async #receive(message: Buffer): Promise<void> {
    const { kind } = this.#protocol;
    const head = readResponseHead(message, kind);
    if (head === undefined) return this.#stream.break('the answer is no message');
    this.#stream.heard(head.identifier);
    const state = this.#types.get(head.typeUrl);
    if (state === undefined) return this.#stream.ignored(head.typeUrl);
    const { generation } = this.#stream;
    if (kind === 'sotw') state.nonce = head.nonce;
    await this.#order.take(state, this.#types, this.#decode(state, message), (decoded) =>
      this.#answer(state, decoded, head, generation),
    );
  }

  async #decode({ type }: State, message: Buffer): Promise<unknown> {
    const source = { name: type.typeUrl, format: 'pb', content: message } as const;
    return await this.#protocol
      .decode(source, type, this.options.decoding)
      .then(withCanonicalNames)
      .catch((error: unknown) => error);
  }

  async #answer(
    state: State,
    decoded: unknown,
    { versionInfo, nonce }: ResponseHead,
    generation: number,
  ): Promise<void> {
    this.options.history?.heard(state.type.kind, { version: versionInfo, nonce });
    const refusal =
      decoded instanceof Error
        ? await this.#refuse(state, decoded)
        : await this.#take(state, decoded as DiscoveryUpdate);
    if (refusal === undefined && isTaken(state, decoded)) state.versionInfo = versionInfo;
    state.pace.pace(refusal !== undefined, () => {
      // To ask for no name would be to ask for all.
      const isWanted = nonce !== '' || state.interests.all.size > 0;
      // An answer belongs to the stream that the response came on.
      if (!isWanted || generation !== this.#stream.generation) return;
      // What the response made others want is said before it is answered.
      this.#flush(state);
      this.#request(state, nonce, refusal);
    });
  }

  async #refuse({ interests }: State, error: Error): Promise<string> {
    const all = [...interests.all];
    await Promise.all(all.map((each) => each.deliverStream(() => Promise.reject(error))));
    return error.message;
  }

  async #take(state: State, update: DiscoveryUpdate): Promise<string | undefined> {
    const { ttls } = state;
    const { resources, heartbeats = [] } = update;
    for (const { name, ttlMs } of resources) ttls.set(name, ttlMs);
    for (const { name, ttlMs } of heartbeats) ttls.set(name, ttlMs);
    const outcomes = await this.#takeBy(state, update);
    const refused = outcomes.filter(({ refusal }) => refusal !== undefined);
    const refusal = refused[0]?.refusal;
    if (refusal === undefined) {
      this.taken(state, update);
      return undefined;
    }
    // Everybody hears of it, as in Envoy.
    const others = new Set(state.interests.all);
    for (const { subscription } of refused) others.delete(subscription);
    for (const other of others) other.refusedBeside(refusal);
    return refusal;
  }

  /** All endpoints that new clusters need are asked for together, as by Envoy. */
  async #takeBy(state: State, update: DiscoveryUpdate): Promise<readonly Outcome[]> {
    this.#takesClusters = state.type.kind === 'cluster';
    try {
      return await Promise.all(this.#distribute(state, update));
    } finally {
      this.#takesClusters = false;
      this.plan();
    }
  }

  #expire(state: State, name: string): void {
    this.forget(state, name);
    // Nobody sent it: it has no version, as in Envoy.
    const update = { versionInfo: '', resources: [], removed: [name] };
    void Promise.all(this.#distribute(state, update));
  }

  #distribute({ interests }: State, update: DiscoveryUpdate): readonly Promise<Outcome>[] {
    const isDelta = this.#protocol.kind === 'delta';
    return interests.distribute(update).map(async ({ subscription, update: part }) => {
      const refusal = await subscription.deliverStream(() => Promise.resolve(part));
      // Envoy counts what it refuses incrementally when it comes and when it fails.
      if (isDelta && refusal !== undefined) subscription.attempted();
      return { subscription, refusal };
    });
  }

  /** What changes in one turn of the loop is said at once. */
  protected plan(): void {
    if (this.#isFlushPlanned || this.#stream.generation === 0) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      if (this.#stream.generation !== 0) this.#flush();
    });
  }

  #flush(except?: State): void {
    for (const state of this.#types.values()) {
      const waits = this.#takesClusters && state.type.kind === 'endpoints';
      if (waits || state === except || state.isRequestQueued || !this.isDue(state)) continue;
      this.#request(state, state.nonce);
    }
  }

  #request(state: State, nonce: string, refusal?: string): void {
    state.isRequestQueued = true;
    // A stream begins with its first request in any case.
    const waits = (state.isHeld || !state.held.isEmpty) && nonce !== '';
    const answered = { nonce, refusal };
    const due = waits ? state.held.add(answered) : answered;
    if (due !== undefined) this.#send(state, due);
  }

  #send(state: State, { nonce, refusal }: Answered): void {
    this.#stream.send(() => {
      state.isRequestQueued = false;
      const isNodeWanted = !this.#isNodeSent || !this.options.source.nodeOnFirstMessageOnly;
      this.#isNodeSent = true;
      return this.#encoder.encode(this.message(state, { nonce, refusal }), isNodeWanted);
    });
  }
}
