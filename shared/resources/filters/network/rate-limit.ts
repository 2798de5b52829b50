/** Settings of the network filter ratelimit: a service limits connections. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter, gauge } from '../../../stats/templates/spec.ts';
import type { GrpcTarget } from '../../grpc-target.ts';
import { declareKind } from '../declare-filter.ts';

/** Prefix: `ratelimit.<stat_prefix>.` */
export const NETWORK_RATE_LIMIT = defineTemplate('network_rate_limit', {
  active: gauge('Connections that a service is being asked about'),
  cx_closed: counter('Connections closed'),
  error: counter('Times that the service did not answer'),
  failure_mode_allowed: counter('Connections let through because the service did not answer'),
  ok: counter('Connections within their limit'),
  over_limit: counter('Connections beyond their limit'),
  total: counter('Times that the service was asked'),
});

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

export const NETWORK_RATE_LIMIT_DECLARATION =
  declareKind<AskedNetworkRateLimit>(NETWORK_RATE_LIMIT);
