/** What takes the datagrams of a listener: one row per filter. */
import { KindTable } from '../../shared/resources/by-kind.ts';
import type { UdpFilter } from '../../shared/resources/udp-listener.ts';
import type { ListenerInfo } from '../stream/connection-facts.ts';
import { DnsServer } from './dns/dns-server.ts';
import { type UdpProxyParts, UdpProxyServer } from './udp-proxy.ts';
import type { Client } from './udp-session.ts';

export interface DatagramFilter {
  /** `doorKey` names the socket that the datagram came by. */
  receive(data: Buffer, client: Client, doorKey: string, listener: ListenerInfo): void;
  receiveFailed(): void;
  sendFailed(): void;
  /** Nothing comes any more. */
  release(): void;
}

/** A row throws where the filter cannot be made. */
export const UDP_FILTERS = new KindTable<
  UdpFilter,
  [parts: UdpProxyParts, listener: ListenerInfo],
  DatagramFilter
>({
  udp_proxy: (config, parts, listener) => new UdpProxyServer(config, parts, listener),
  dns_filter: (config, parts) => new DnsServer(config, parts),
});
