/** What is said of a host by its resource alone; see http/stream-info.ts. */
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import { addressOf } from '../../shared/addresses/host-address.ts';
import type { UpstreamHostInfo } from './stream-info.ts';

export function hostInfo(host: HostResource): UpstreamHostInfo {
  const { id, hostname, region, zone, subZone, metadata } = host;
  const place = { address: addressOf(host), ip: ipOf(host), port: portOf(host) };
  return { id, ...place, hostname, region, zone, subZone, metadata };
}

export function ipOf({ address, id }: HostResource): string {
  if (address.kind === 'internal') return id;
  return address.kind === 'ip' ? address.address : address.path;
}

export function portOf({ address }: HostResource): number {
  return address.kind === 'ip' ? address.port : 0;
}
