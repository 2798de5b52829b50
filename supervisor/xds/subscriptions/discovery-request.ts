/** What both protocols send: requests as bytes. */
import type { ConfigHistory } from '../../store/config-history.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { ApiCatalog } from '../../config/api/api-catalog.ts';
import { messageToBinary } from '../../config/message-codec.ts';
import type { DecodeEnvironment } from './decode-response.ts';
import type { ControlStreamOptions } from '../../services/control-stream.ts';
import type { ResourceType } from '../../resolved/resource-kinds.ts';
import type { Subscription } from './subscription.ts';

export interface MuxOptions extends ControlStreamOptions {
  /** Told of each answer before it is taken. */
  readonly history?: Pick<ConfigHistory, 'heard'>;
  readonly node: JsonObject;
  readonly decoding: DecodeEnvironment;
}

/** Subscriptions that share one stream to a control plane. */
export interface Mux {
  /** Wants what a subscription wants, until `remove`. */
  add(subscription: Subscription): void;
  remove(subscription: Subscription): void;
  /**
   * One more name for a subscription to all that there are, where they are asked for one by one.
   */
  want(subscription: Subscription, name: string): void;
  /** While a type is held back its answers are taken, and are answered when it is not any more. */
  hold(type: ResourceType, isHeld: boolean): void;
  close(): void;
}

const INTERNAL = 13;
/** A reason is cut here: it travels in a request. */
const REASON_LIMIT = 4096;

export function errorDetail(refusal: string | undefined): object {
  if (refusal === undefined) return {};
  return { error_detail: { code: INTERNAL, message: refusal.slice(0, REASON_LIMIT) } };
}

export class RequestEncoder {
  readonly #catalog: ApiCatalog;
  readonly #message: string;
  readonly #node: Uint8Array;

  constructor(
    catalog: ApiCatalog,
    name: 'DiscoveryRequest' | 'DeltaDiscoveryRequest',
    node: JsonObject,
  ) {
    this.#catalog = catalog;
    this.#message = `envoy.service.discovery.v3.${name}`;
    this.#node = messageToBinary(catalog, this.#message, { node });
  }

  encode(request: Readonly<Record<string, unknown>>, isNodeWanted: boolean): Uint8Array {
    const rest = messageToBinary(this.#catalog, this.#message, request);
    // Fields come in any order: what never changes is not written again.
    return isNodeWanted ? Buffer.concat([this.#node, rest]) : rest;
  }
}
