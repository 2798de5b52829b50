/** Settings of envoy.filters.http.body_size_limit. */
import type { FilterResource } from '../../declare-filter.ts';
import { declareKind } from '../../declare-filter.ts';

interface BodySizeLimitOptions {
  /** Absent: no limit. */
  readonly maxRequestBytes?: number;
}

export type BodySizeLimitFilterSettings = FilterResource<'body_size_limit', BodySizeLimitOptions>;

export const BODY_SIZE_LIMIT_DECLARATION = declareKind<BodySizeLimitFilterSettings>();
