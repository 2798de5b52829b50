/** Resolves Istio's io.istio.http.peer_metadata.Config. */
import type {
  Config,
  Config_DiscoveryMethod as DiscoveryMessage,
  Config_IstioHeaders as HeadersMessage,
  Config_PropagationMethod as PropagationMessage,
} from '../../../../../shared/api/generated/io/istio/http/peer_metadata/config.ts';
import type {
  PeerDiscovery,
  PeerMetadataFilterSettings,
  PeerPropagation,
} from '../../../../../shared/resources/filters/http/istio/peer-metadata.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { httpFilter } from '../../http-filter-row.ts';

const FIELDS = knownFields<Config>([
  'downstream_discovery',
  'upstream_discovery',
  'downstream_propagation',
  'upstream_propagation',
  'shared_with_upstream',
  'additional_labels',
]);
const DISCOVERY_FIELDS = knownFields<DiscoveryMessage>([
  'baggage',
  'workload_discovery',
  'istio_headers',
  'upstream_filter_state',
]);
const PROPAGATION_FIELDS = knownFields<PropagationMessage>(['istio_headers', 'baggage']);
const HEADERS_FIELDS = knownFields<HeadersMessage>(['skip_external_clusters']);

export const PEER_METADATA_FILTER = httpFilter(
  'envoy.filters.http.peer_metadata',
  'io.istio.http.peer_metadata.Config',
  (message: Config, scope, name): PeerMetadataFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    if (message.shared_with_upstream === true) {
      scope
        .at('shared_with_upstream')
        .warning('no_effect', 'what is known of a peer is not handed on to upstream connections');
    }
    const propagation = (field: 'downstream_propagation' | 'upstream_propagation') =>
      resolvePropagation(message[field] ?? [], scope.at(field));
    return {
      kind: 'peer_metadata',
      name,
      options: {
        downstreamDiscovery: resolveDiscovery(message.downstream_discovery ?? [], true, scope),
        upstreamDiscovery: resolveDiscovery(message.upstream_discovery ?? [], false, scope),
        downstreamPropagation: propagation('downstream_propagation'),
        upstreamPropagation: propagation('upstream_propagation'),
        additionalLabels: message.additional_labels ?? [],
      },
    };
  },
);

function resolveDiscovery(
  messages: readonly DiscoveryMessage[],
  isDownstream: boolean,
  outer: Scope,
): readonly PeerDiscovery[] {
  const field = isDownstream ? 'downstream_discovery' : 'upstream_discovery';
  return messages.flatMap((message, index): readonly PeerDiscovery[] => {
    const scope = outer.at(field, index);
    refuseOtherFields(message, DISCOVERY_FIELDS, scope);
    if (message.istio_headers !== undefined) return ['istio_headers'];
    // Without a service of workloads in the bootstrap, which is refused, Envoy finds nothing either.
    if (message.workload_discovery !== undefined) return [];
    if (message.baggage !== undefined && isDownstream) return ['baggage'];
    scope.warning('no_effect', 'nothing is learnt of a peer in this way here');
    return [];
  });
}

function resolvePropagation(
  messages: readonly PropagationMessage[],
  outer: Scope,
): readonly PeerPropagation[] {
  return messages.flatMap((message, index): readonly PeerPropagation[] => {
    const scope = outer.at(index);
    refuseOtherFields(message, PROPAGATION_FIELDS, scope);
    const { baggage, istio_headers: headers } = message;
    if (baggage !== undefined) return [{ kind: 'baggage' }];
    if (headers === undefined) return [];
    refuseOtherFields(headers, HEADERS_FIELDS, scope.at('istio_headers'));
    return [{ kind: 'istio_headers', skipsExternal: headers.skip_external_clusters ?? false }];
  });
}
