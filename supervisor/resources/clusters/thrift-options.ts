/** Resolves how the hosts of a cluster are spoken to by the Thrift proxy. */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { ThriftProtocolOptions } from '../../../shared/api/generated/envoy/extensions/filters/network/thrift_proxy/v3/thrift_proxy.ts';
import type { Any } from '../../../shared/api/well-known.ts';
import type { ClusterResource } from '../../../shared/resources/clusters/cluster.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { thriftTransportOf } from '../filters/http/matching/thrift-to-metadata.ts';
import type { Scope } from '../scope.ts';

/** Under what name the options stand, and of what type they are. */
export const THRIFT_EXTENSION = 'envoy.filters.network.thrift_proxy';
export const THRIFT_OPTIONS =
  'envoy.extensions.filters.network.thrift_proxy.v3.ThriftProtocolOptions';

const FIELDS = knownFields<ThriftProtocolOptions>(['transport', 'protocol']);

export function resolveThriftOptions(
  message: Cluster,
  outer: Scope,
): Pick<ClusterResource, 'thriftTransport'> {
  const typed: (Any & ThriftProtocolOptions) | undefined =
    message.typed_extension_protocol_options?.[THRIFT_EXTENSION];
  if (typed === undefined) return {};
  const scope = outer.at('typed_extension_protocol_options', THRIFT_EXTENSION);
  refuseOtherFields(typed, FIELDS, scope);
  const { protocol = 'AUTO_PROTOCOL' } = typed;
  if (protocol !== 'AUTO_PROTOCOL') {
    scope
      .at('protocol')
      .unsupported("another protocol than the client's is (AUTO_PROTOCOL asks hosts in it)");
  }
  const transport = thriftTransportOf(typed.transport);
  return transport === 'auto' ? {} : { thriftTransport: transport };
}
