/** Settings of the network filter ext_authz: a service decides which connections may go on. */
import type { GrpcTarget } from '../../grpc-target.ts';
import type { MetadataMatcher } from '../../routes/matchers.ts';

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
  /** Of the node's metadata: labels that the service is told of this side; empty: none. */
  readonly labelsKey: string;
  readonly metadataNamespaces: readonly string[];
  /** Connections go on whatever a check says; what it said is counted. */
  readonly isShadow: boolean;
}
