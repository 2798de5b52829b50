/**
 * Stands before all filters of a listener's requests while a client of `/tap/listen` is there, and
 * is no part of the chain otherwise.
 */
import { RequestTap } from '../../tap/request-tap.ts';
import type { Taps } from '../../tap/taps.ts';
import type { FilterFactory } from '../../stream/filter.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';
import { TapFilter, traceIdOf } from './tap.ts';

/** No route turns it off. */
const NAME = 'sluice.tap_listen';

/** The filters, with that one before them while somebody listens. */
export function withListener(
  filters: readonly FilterFactory[],
  listener: string,
  taps: Taps,
  nowMs: () => number,
): () => readonly FilterFactory[] {
  const listened: readonly FilterFactory[] = [listenedFilter(taps, nowMs), ...filters];
  return () => (taps.listened?.hearsRequests(listener) === true ? listened : filters);
}

function listenedFilter(taps: Taps, nowMs: () => number): FilterFactory {
  return {
    name: NAME,
    create: ({ info }) => {
      const { listened } = taps;
      if (listened?.takes(info.downstreamRemoteAddress.ip) !== true) return new PassThroughFilter();
      const recorded = new RequestTap({
        tap: listened.tap,
        info,
        traceId: traceIdOf(info),
        nowMs,
        recordsReceivedTime: true,
        recordsDownstreamConnection: true,
        recordsUpstreamConnection: true,
      });
      return new TapFilter(recorded, () => undefined);
    },
  };
}
