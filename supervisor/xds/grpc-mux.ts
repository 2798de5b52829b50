/**
 * Subscriptions that share one stream to a control plane: the state-of-the-world protocol. For each type
 * it asks for all names that are wanted, answers every response with its nonce (ACK with the new
 * version, NACK with the old one and the reason), and begins anew after the stream has ended.
 */
import protobuf from 'protobufjs/minimal.js';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { Clock, Timer } from '../../shared/clock.ts';
import { ApiCatalog } from '../config/api/api-catalog.ts';
import { messageToBinary } from '../config/message-codec.ts';
import type { GrpcSource } from '../resources/config-source.ts';
import { decodeResponse, type DecodeEnvironment } from './decode-response.ts';
import type { DiscoveryUpdate } from './discovery-update.ts';
import { openGrpcStream, type GrpcStream } from './grpc-client.ts';
import type { ResourceType } from './resource-type.ts';
import type { ControlPlaneClusters } from './control-plane-clusters.ts';
import type { Subscription } from './subscription.ts';

export interface GrpcMuxOptions {
  readonly source: GrpcSource;
  /** Such as `/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources`. */
  readonly method: string;
  readonly clusters: ControlPlaneClusters;
  readonly node: JsonObject;
  readonly clock: Clock;
  readonly decoding: DecodeEnvironment;
  /** Told whether there is a stream that has carried an answer. */
  connected(isConnected: boolean): void;
  readonly log: (level: 'debug' | 'warning', text: string) => void;
}

/** What is known of one type on the stream. */
interface TypeState {
  readonly type: ResourceType;
  readonly subscriptions: Set<Subscription>;
  /** Of the last answer that was taken. */
  versionInfo: string;
  /** Of the last answer on this stream. */
  nonce: string;
  /** The last answer, for whoever comes to want a name that is known. */
  last: DiscoveryUpdate | undefined;
  isRequestWanted: boolean;
}

const REQUEST = 'envoy.service.discovery.v3.DiscoveryRequest';
const BACK_OFF_FIRST_MS = 500;
const BACK_OFF_MAX_MS = 30_000;
const INVALID_ARGUMENT = 3;
/** A reason is cut here: it travels in a request. */
const REASON_LIMIT = 4096;

export class GrpcMux {
  readonly #options: GrpcMuxOptions;
  readonly #catalog = new ApiCatalog();
  readonly #types = new Map<string, TypeState>();
  #stream: GrpcStream | undefined;
  #timer: Timer | undefined;
  #failuresInARow = 0;
  #isNodeSent = false;
  #hasStarted = false;
  #isClosed = false;
  #isFlushPlanned = false;

  constructor(options: GrpcMuxOptions) {
    this.#options = options;
  }

  /** Wants what a subscription wants, until `remove`. */
  add(subscription: Subscription): void {
    const { type } = subscription;
    let state = this.#types.get(type.typeUrl);
    if (state === undefined) {
      state = {
        type,
        subscriptions: new Set(),
        versionInfo: '',
        nonce: '',
        last: undefined,
        isRequestWanted: true,
      };
      this.#types.set(type.typeUrl, state);
    }
    const known = this.#namesOf(state);
    state.subscriptions.add(subscription);
    subscription.startTimer();
    // A name that somebody has asked for already is not sent again.
    const isKnown = subscription.names.length > 0 && subscription.names.every((n) => known.has(n));
    const { last } = state;
    if (isKnown && last !== undefined) void deliver(subscription, () => Promise.resolve(last));
    else this.#want(state);
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      void this.#connect();
    }
  }

  remove(subscription: Subscription): void {
    const state = this.#types.get(subscription.type.typeUrl);
    if (state === undefined || !state.subscriptions.delete(subscription)) return;
    if (!subscription.names.every((name) => this.#namesOf(state).has(name))) this.#want(state);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#stream?.close();
  }

  async #connect(): Promise<void> {
    const { source, method, clusters, log } = this.#options;
    this.#isNodeSent = false;
    try {
      const stream = await openGrpcStream(
        source.target,
        method,
        {
          received: (message) => void this.#receive(message),
          ended: (reason) => this.#ended(reason),
        },
        (cluster) => clusters.pick(cluster, 'h2'),
      );
      if (this.#isClosed) return stream.close();
      this.#stream = stream;
      for (const state of this.#types.values()) {
        state.nonce = '';
        this.#want(state);
      }
    } catch (error) {
      log('warning', `cannot open a stream to the control plane: ${(error as Error).message}`);
      this.#ended((error as Error).message);
    }
  }

  #ended(reason: string): void {
    if (this.#isClosed) return;
    const { clock, log } = this.#options;
    log('warning', `the stream to the control plane has ended: ${reason}`);
    this.#stream = undefined;
    this.#options.connected(false);
    for (const { subscriptions } of this.#types.values()) {
      for (const subscription of subscriptions) subscription.failed(reason);
    }
    const boundMs = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** this.#failuresInARow);
    this.#failuresInARow = Math.min(this.#failuresInARow + 1, 10);
    this.#timer = clock.after(1 + Math.floor(Math.random() * boundMs), () => void this.#connect());
  }

  async #receive(message: Buffer): Promise<void> {
    const { decoding, log } = this.#options;
    this.#failuresInARow = 0;
    this.#options.connected(true);
    const { versionInfo, typeUrl, nonce } = headOf(message);
    const state = this.#types.get(typeUrl);
    if (state === undefined) {
      log('warning', `the control plane sent ${typeUrl}, which nobody asked for; it is ignored`);
      return;
    }
    const stream = this.#stream;
    state.nonce = nonce;
    const source = { name: typeUrl, format: 'pb', content: message } as const;
    const decoded = decodeResponse(source, state.type, decoding);
    // Each subscription sees the rejection by itself.
    decoded.catch(() => undefined);
    const refusals = await Promise.all(
      [...state.subscriptions].map((subscription) => deliver(subscription, () => decoded)),
    );
    const refusal = refusals.find((text) => text !== undefined);
    if (refusal === undefined) {
      state.versionInfo = versionInfo;
      state.last = await decoded.catch(() => undefined);
    }
    // An answer belongs to the stream that the response came on.
    if (stream !== undefined && stream === this.#stream) this.#request(state, nonce, refusal);
  }

  /** Requests of one turn of the loop for one type are one. */
  #want(state: TypeState): void {
    state.isRequestWanted = true;
    if (this.#isFlushPlanned || this.#stream === undefined) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      if (this.#stream === undefined) return;
      for (const each of this.#types.values()) {
        if (each.isRequestWanted) this.#request(each, each.nonce);
      }
    });
  }

  #request(state: TypeState, nonce: string, refusal?: string): void {
    const { node, source } = this.#options;
    for (const subscription of state.subscriptions) subscription.attempted();
    state.isRequestWanted = false;
    const message = {
      ...(state.versionInfo === '' ? {} : { version_info: state.versionInfo }),
      ...(this.#isNodeSent && source.nodeOnFirstMessageOnly ? {} : { node }),
      resource_names: [...this.#namesOf(state)],
      type_url: state.type.typeUrl,
      ...(nonce === '' ? {} : { response_nonce: nonce }),
      ...(refusal === undefined
        ? {}
        : { error_detail: { code: INVALID_ARGUMENT, message: refusal.slice(0, REASON_LIMIT) } }),
    };
    this.#isNodeSent = true;
    this.#stream?.send(messageToBinary(this.#catalog, REQUEST, message));
  }

  #namesOf({ subscriptions }: TypeState): ReadonlySet<string> {
    return new Set([...subscriptions].flatMap(({ names }) => names));
  }
}

/** Whoever wants certain names hears only of answers that hold one of them. */
async function deliver(
  subscription: Subscription,
  decode: () => Promise<DiscoveryUpdate>,
): Promise<string | undefined> {
  const { names } = subscription;
  if (names.length > 0) {
    const update = await decode().catch(() => undefined);
    if (update !== undefined && !update.resources.some(({ name }) => names.includes(name))) {
      return undefined;
    }
  }
  return subscription.deliver(
    async () => {
      const update = await decode();
      if (names.length === 0) return update;
      return { ...update, resources: update.resources.filter(({ name }) => names.includes(name)) };
    },
    { isTimed: true },
  );
}

/** Reads what is needed to answer, even when the rest cannot be read. */
function headOf(message: Buffer): {
  readonly versionInfo: string;
  readonly typeUrl: string;
  readonly nonce: string;
} {
  const head = { versionInfo: '', typeUrl: '', nonce: '' };
  try {
    const reader = protobuf.Reader.create(message);
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag === 0x0a) head.versionInfo = reader.string();
      else if (tag === 0x22) head.typeUrl = reader.string();
      else if (tag === 0x2a) head.nonce = reader.string();
      else reader.skipType(tag & 7);
    }
  } catch {
    // Decoding the whole says what is wrong with it.
  }
  return head;
}
