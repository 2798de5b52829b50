/** Settings of the network filter ratelimit: a service limits connections. */
import type { GrpcTarget } from '../../grpc-target.ts';

export interface AskedNetworkRateLimit {
  readonly kind: 'network_ratelimit';
  readonly statPrefix: string;
  readonly target: GrpcTarget;
  readonly timeoutMs: number;
  readonly domain: string;
  /** Keys are byte strings; formats are substitution formats. */
  readonly descriptors: readonly (readonly { readonly key: string; readonly format: string }[])[];
  readonly failureModeDeny: boolean;
}
