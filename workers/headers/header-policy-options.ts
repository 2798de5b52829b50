/**
 * What a header policy is made of: options of the connection manager, and what the worker brings.
 */
import type { HttpConnectionManager } from '../../shared/resources/listener.ts';
import type { UnderscoreCounts } from '../manager/types.ts';
import type { HeaderMap } from '../stream/header-map.ts';

export interface HeaderPolicyEnvironment {
  /** Which of this machine's addresses stands for a client on the loopback interface. */
  readonly localAddressIpVersion: 'v4' | 'v6';
  /** This node's name and cluster, as `add_user_agent` shows them. */
  readonly node: { readonly id: string; readonly cluster: string };
  /** Counts headers dropped and requests refused for an underscore in a name. */
  readonly underscores: UnderscoreCounts;
  /** `internal_only_headers` of the route configuration in force; lower case. */
  internalOnlyHeaders(headers: HeaderMap): readonly string[];
}

export type ManagerOptions = Pick<
  HttpConnectionManager,
  | 'addUserAgent'
  | 'alwaysSetRequestIdInResponse'
  | 'escapedSlashes'
  | 'forwardsClientCert'
  | 'clientCert'
  | 'generateRequestId'
  | 'internalCidrs'
  | 'hasInternalSockets'
  | 'mergeSlashes'
  | 'normalizePath'
  | 'preserveExternalRequestId'
  | 'schemeOverwrite'
  | 'serverHeader'
  | 'serverName'
  | 'skipXffAppend'
  | 'stripHostPort'
  | 'stripTrailingHostDot'
  | 'underscoresInHeaders'
  | 'useRemoteAddress'
  | 'via'
  | 'xffNumTrustedHops'
  | 'ipDetection'
  | 'earlyMutations'
  | 'appendXForwardedPort'
  | 'proxyStatus'
  | 'forwardedProtoPorts'
>;
