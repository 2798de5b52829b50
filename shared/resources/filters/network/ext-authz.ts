/** Settings of the network filter ext_authz: a service decides which connections may go on. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter, gauge } from '../../../stats/templates/spec.ts';
import type { GrpcTarget } from '../../grpc-target.ts';
import type { MetadataMatcher } from '../../routes/matchers.ts';
import { declareKind } from '../declare-filter.ts';

/** Prefix: `ext_authz.<stat_prefix>.` */
export const NETWORK_EXT_AUTHZ = defineTemplate('network_ext_authz', {
  active: gauge('Connections that are being checked'),
  cx_closed: counter('Connections closed'),
  denied: counter('Connections that a check denied'),
  disabled: counter('Times that the filter was switched off for a connection'),
  error: counter('Checks that failed'),
  failure_mode_allowed: counter('Connections let through because their check failed'),
  ok: counter('Connections that a check let through'),
  total: counter('Checks'),
});

export interface NetworkExtAuthz {
  readonly kind: 'network_ext_authz';
  readonly statPrefix: string;
  readonly target: GrpcTarget;
  readonly timeoutMs: number;
  readonly failureModeAllow: boolean;
  readonly includesPeerCertificate: boolean;
  readonly includesTlsSession: boolean;
  /** Absent: all connections are checked. */
  readonly enabledMetadata?: MetadataMatcher;
  /** The key in the node's metadata: labels that the service is told of this side; empty: none. */
  readonly labelsKey: string;
  readonly metadataNamespaces: readonly string[];
  /** Connections go on whatever a check says; what it said is counted. */
  readonly isShadow: boolean;
}

export const NETWORK_EXT_AUTHZ_DECLARATION = declareKind<NetworkExtAuthz>(NETWORK_EXT_AUTHZ);
