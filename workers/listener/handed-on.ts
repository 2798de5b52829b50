/**
 * The addresses that a connection inside had at its beginning, by what was handed on with it: the
 * metadata of a host, else what filters keep. For listeners with the filter original_dst.
 */
import { memberOf, type Struct } from '../../shared/text/dictionary.ts';
import { ipAddress } from '../net/addresses.ts';
import type { Address, ConnectionInfo } from '../net/connection-info.ts';
import { FilterState } from '../net/filter-state.ts';
import { keepShared, type SharedValue } from '../net/mesh/shared-state.ts';
import { parseIpPort } from '../stream/ip-port.ts';

const NAMESPACE = 'envoy.filters.listener.original_dst';

export interface HandedOn {
  readonly metadata: Map<string, Struct> | undefined;
  readonly shared: readonly SharedValue[] | undefined;
}

export interface OriginalAddresses {
  readonly remote?: Address | undefined;
  readonly local?: Address | undefined;
}

export function handedOnAddresses({ metadata, shared }: HandedOn): OriginalAddresses {
  const addressOf = (what: 'local' | 'remote'): Address | undefined => {
    const told = memberOf(metadata?.get(NAMESPACE), what);
    const key = `${NAMESPACE}.${what}_ip`;
    const text = typeof told === 'string' ? told : shared?.find((each) => each.key === key)?.value;
    const found = parseIpPort(text ?? '');
    return found && ipAddress(found.ip, found.port);
  };
  return { remote: addressOf('remote'), local: addressOf('local') };
}

export function keepHandedOn(connection: ConnectionInfo, shared: readonly SharedValue[]): void {
  keepShared((connection.filterState ??= new FilterState()), shared);
}
