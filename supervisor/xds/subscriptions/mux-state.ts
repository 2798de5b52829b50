/** What a shared stream keeps of each type of resource, and what its protocol has to say. */
import type { ResourceType } from '../../resolved/resource-kinds.ts';
import type { DecodeEnvironment } from './decode-response.ts';
import type { DiscoveredResource, DiscoveryUpdate } from './discovery-update.ts';
import type { HeldAnswers } from './held-answers.ts';
import type { Interests } from './interests.ts';
import type { RefusalPace } from './refusal-pace.ts';
import type { ResourceTtls } from './resource-ttls.ts';
import type { Subscription } from './subscription.ts';

/** What is known of one type on the stream. */
export interface TypeState {
  readonly type: ResourceType;
  readonly interests: Interests;
  readonly ttls: ResourceTtls;
  readonly pace: RefusalPace;
  /** By name, for later subscribers; not of types that are wanted as a whole. */
  readonly known: Map<string, DiscoveredResource>;
  /** The version of the last answer that was taken. */
  versionInfo: string;
  /** What a request that answers nothing names. */
  nonce: string;
  /** A request waits to go out; what it says is decided then. */
  isRequestQueued: boolean;
  isHeld: boolean;
  /** What waits to be said while the type is held back. */
  readonly held: HeldAnswers;
  /** Settles when the answers so far are dealt with. */
  last: Promise<void>;
}

/** How a protocol names its requests, and how its answers are read. */
export interface MuxProtocol {
  readonly kind: 'sotw' | 'delta';
  readonly request: 'DiscoveryRequest' | 'DeltaDiscoveryRequest';
  decode(
    source: { readonly name: string; readonly format: 'pb'; readonly content: Buffer },
    type: ResourceType,
    environment: DecodeEnvironment,
  ): Promise<DiscoveryUpdate>;
}

/** What a request says beside what the state holds. */
export interface RequestCause {
  /** The nonce of the answer that it answers; else that of the state. */
  readonly nonce: string;
  /** Why the answer was refused. */
  readonly refusal?: string | undefined;
}

/** What came of an answer for one subscription. */
export interface Outcome {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
}

/** Resources that nobody wants are not taken: the version stays, as in Envoy. */
export function isTaken({ interests }: TypeState, decoded: unknown): boolean {
  return interests.all.size > 0 || (decoded as DiscoveryUpdate).resources.length === 0;
}
