/** Settings of Istio's filter istio.alpn. */
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface AlpnOptions {
  /** What TLS towards hosts offers, by the protocol that requests have there; absent: as configured. */
  readonly http10?: readonly string[];
  readonly http11?: readonly string[];
  readonly http2?: readonly string[];
}

export type AlpnFilterSettings = FilterResource<'istio_alpn', AlpnOptions>;

export const ALPN_DECLARATION = declareKind<AlpnFilterSettings>();
