/** Types of additions to the header. */
export type TlvChoice = 'all' | readonly number[];

/** The PROXY protocol that connections to a cluster's hosts begin with. */
export interface ProxyProtocolSender {
  readonly version: 'V1' | 'V2';
  /** Values for version 2 only, in base64. */
  readonly tlvs: readonly { readonly type: number; readonly value: string }[];
  /** Which of the client's own go with them, except those of the same types; absent: none. */
  readonly passedOn?: TlvChoice;
}
