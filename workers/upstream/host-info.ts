/** What is said of a host by its resource alone; see http/stream-info.ts. */
import { printAuthority } from '../../shared/authority.ts';
import type { HostResource } from '../../shared/resources/cluster.ts';
import type { UpstreamHostInfo } from '../http/stream-info.ts';

export function hostInfo(host: HostResource): UpstreamHostInfo {
  const { id, hostname, region, zone, subZone, metadata } = host;
  const place = { address: addressOf(host), ip: ipOf(host), port: portOf(host) };
  return { id, ...place, hostname, region, zone, subZone, metadata };
}

export function addressOf({ address, id }: HostResource): string {
  if (address.kind === 'internal') return id;
  if (address.kind === 'pipe') return address.path;
  return printAuthority({ host: address.address, port: address.port });
}

export function ipOf({ address, id }: HostResource): string {
  if (address.kind === 'internal') return id;
  return address.kind === 'ip' ? address.address : address.path;
}

export function portOf({ address }: HostResource): number {
  return address.kind === 'ip' ? address.port : 0;
}
