/** Resolves which additions to the PROXY protocol's header are passed on. */
import type { ProxyProtocolPassThroughTLVs } from '../../shared/api/generated/envoy/config/core/v3/proxy_protocol.ts';
import type { TlvChoice } from '../../shared/resources/clusters/proxy-protocol.ts';
import { knownFields, refuseOtherFields } from './fields.ts';
import type { Scope } from './scope.ts';

const FIELDS = knownFields<ProxyProtocolPassThroughTLVs>(['match_type', 'tlv_type']);

/** Undefined: none. */
export function resolvePassedOn(
  message: ProxyProtocolPassThroughTLVs | undefined,
  scope: Scope,
): TlvChoice | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, FIELDS, scope);
  return message.match_type === 'INCLUDE' ? (message.tlv_type ?? []) : 'all';
}
