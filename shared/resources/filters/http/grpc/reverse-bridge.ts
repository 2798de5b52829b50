/** Settings of envoy.filters.http.grpc_http1_reverse_bridge. */
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface ReverseBridgeOptions {
  /** What hosts are sent, and what they have to answer with. */
  readonly contentType: string;
  /** Hosts see bare messages: frames are taken off and put back. */
  readonly withholdsFrames: boolean;
  /** The header that says how long the answer's message is, in lower case; absent: it is kept to be measured. */
  readonly sizeHeader?: string;
}

export interface ReverseBridgePerRoute {
  readonly isDisabled: boolean;
}

export type ReverseBridgeFilterSettings = FilterResource<
  'grpc_http1_reverse_bridge',
  ReverseBridgeOptions
>;

export const REVERSE_BRIDGE_DECLARATION = declareKind<ReverseBridgeFilterSettings>();
