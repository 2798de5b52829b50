/**
 * How a host's address is written wherever it is shown: `address:port`, or the path of its socket.
 */
import { printAuthority } from './authority.ts';
import type { HostResource } from '../resources/clusters/cluster.ts';

export function addressOf({ address, id }: Pick<HostResource, 'address' | 'id'>): string {
  switch (address.kind) {
    case 'ip':
      return printAuthority({ host: address.address, port: address.port });
    case 'pipe':
      return address.path;
    case 'internal':
      return id;
  }
}
