/** Settings of sni_dynamic_forward_proxy. */
import { declareKind } from '../declare-filter.ts';

/** The connection waits for the address of the name that its TLS client asked for. */
export interface SniForwardProxy {
  readonly kind: 'sni_dynamic_forward_proxy';
  /** The clusters of the TCP proxy behind it. */
  readonly clusters: readonly string[];
  /** Where nothing else says one. */
  readonly port: number;
}

export const SNI_FORWARD_PROXY_DECLARATION = declareKind<SniForwardProxy>();
