/** The PROXY protocol that connections to a cluster's hosts begin with. */
export interface ProxyProtocolSender {
  readonly version: 'V1' | 'V2';
  /** Of version 2 only; values in base64. */
  readonly tlvs: readonly { readonly type: number; readonly value: string }[];
}
