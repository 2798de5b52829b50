/** The listener filter set_filter_state: keeps facts of a connection before a chain is chosen. */
import type { ListenerFilterStateSettings } from '../../../shared/resources/filters/listener/set-filter-state.ts';
import type { ListenerFilterRunner } from '../../listener/listener-filter.ts';
import { connectionStream } from '../../stream/stream-info.ts';
import { FilterStateWriter } from '../common/filter-state-writer.ts';
import type { ListenerFilterContext } from '../listener-filters.ts';

export function makeListenerFilterState(
  filter: ListenerFilterStateSettings,
  { loop }: ListenerFilterContext,
): ListenerFilterRunner {
  const writer = new FilterStateWriter();
  const values = writer.compile(filter.onAccept);
  return {
    accept(connection) {
      writer.keep(values, connectionStream(connection, loop.clock));
      return true;
    },
    release: () => undefined,
  };
}
