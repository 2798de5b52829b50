/** Resolves what a listener of datagrams has in place of filter chains. */
import type { Listener as ListenerMessage } from '../../../shared/api/generated/envoy/config/listener/v3/listener.ts';
import type { UdpListenerConfig } from '../../../shared/api/generated/envoy/config/listener/v3/udp_listener_config.ts';
import type { UdpListenerResource } from '../../../shared/resources/udp-listener.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { maxDatagramBytes, UDP_FILTERS } from './udp-proxy.ts';

const FIELDS = knownFields<UdpListenerConfig>(
  ['downstream_socket_config', 'quic_options'],
  // How the kernel takes datagrams, which changes none.
  ['udp_packet_packet_writer_config'],
);
type FilterMessage = NonNullable<ListenerMessage['listener_filters']>[number];
const FILTER_FIELDS = knownFields<FilterMessage>(['name', 'typed_config']);

export function isUdpListener({ address }: ListenerMessage): boolean {
  return address?.socket_address?.protocol === 'UDP';
}

/** `address` is how Envoy calls the listener in messages. */
export function resolveUdpListener(
  message: ListenerMessage,
  address: string,
  scope: Scope,
): UdpListenerResource {
  const { udp_listener_config: config = {}, listener_filters: filters = [] } = message;
  const place = scope.at('udp_listener_config');
  refuseOtherFields(config, FIELDS, place);
  if (config.quic_options !== undefined) {
    place.at('quic_options').unsupported('QUIC (HTTP/3) is');
  } else checkChains(message, address, scope);
  const resolved = filters.map((filter, index) => {
    const at = scope.at('listener_filters', index);
    refuseOtherFields(filter, FILTER_FIELDS, at);
    // Envoy reads datagrams with the first filter, which lets none pass.
    if (index > 0)
      at.warning('no_effect', 'this filter gets no datagrams: the first one takes all');
    return UDP_FILTERS.resolve(filter, at);
  });
  const socket = config.downstream_socket_config;
  return {
    maxDatagramBytes: maxDatagramBytes(
      socket,
      { prefersGro: false },
      place.at('downstream_socket_config'),
    ),
    ...optional('filter', resolved[0]),
  };
}

function checkChains(
  { filter_chains: chains = [], default_filter_chain: last }: ListenerMessage,
  address: string,
  scope: Scope,
): void {
  const count = chains.length + (last === undefined ? 0 : 1);
  if (count === 0) return;
  const words = `${count} filter chain(s) specified for connection-less UDP listener.`;
  scope.error('conflict', `error adding listener '${address}': ${words}`);
}
