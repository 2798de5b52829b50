/** One version of a listener as this worker serves it: its resource, compiled. */
import type { ListenerResource } from '../../shared/resources/listener.ts';
import type { AccessLog } from '../access-log/types.ts';
import type { ChainSelector } from './chain-selector.ts';
import type { ListenerFilterRunner } from './listener-filter.ts';

export interface CompiledListener {
  readonly resource: ListenerResource;
  readonly chains: ChainSelector;
  readonly listenerFilters: readonly ListenerFilterRunner[];
  /** Written once per connection, when it is over. */
  readonly accessLogs: readonly AccessLog[];
  /** Its logs or headers show local addresses, which a closed connection no longer has. */
  readonly showsLocalAddress: boolean;
  /** Asks the kernel where each connection was sent before it was redirected. */
  readonly readsOriginal: boolean;
  /**
   * Called when another version is in force and its last connection has ended; see
   * `RetiredVersion`.
   */
  readonly release: () => void;
}
