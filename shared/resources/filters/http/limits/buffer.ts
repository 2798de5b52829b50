/** Settings of envoy.filters.http.buffer. */
import type { FilterResource } from '../../declare-filter.ts';
import { declareKind } from '../../declare-filter.ts';

interface BufferOptions {
  readonly maxRequestBytes: number;
}

export interface BufferPerRoute {
  /** Absent: the route's requests are not buffered. */
  readonly maxRequestBytes?: number;
}

export type BufferFilterSettings = FilterResource<'buffer', BufferOptions>;

export const BUFFER_DECLARATION = declareKind<BufferFilterSettings>();
