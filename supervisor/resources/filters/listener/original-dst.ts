/** Resolves original_dst, which has no settings. */
import type { OriginalDstSettings } from '../../../../shared/resources/filters/listener/original-dst.ts';
import { extension } from '../../extensions.ts';

export const ORIGINAL_DST_FILTER = extension(
  'envoy.filters.listener.original_dst',
  'envoy.extensions.filters.listener.original_dst.v3.OriginalDst',
  (): OriginalDstSettings => ({ kind: 'original_dst' }),
);
