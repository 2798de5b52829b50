/** Settings of envoy.filters.http.cdn_loop. */
import type { FilterResource } from '../declare-filter.ts';
import { declareKind } from '../declare-filter.ts';

interface CdnLoopOptions {
  readonly cdnId: string;
  /** How often the name may stand in a request already. */
  readonly allowedOccurrences: number;
}

export type CdnLoopFilterSettings = FilterResource<'cdn_loop', CdnLoopOptions>;

export const CDN_LOOP_DECLARATION = declareKind<CdnLoopFilterSettings>();
