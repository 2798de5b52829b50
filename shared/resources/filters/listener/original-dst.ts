/** Settings of original_dst: the kernel says where a connection was sent before it was redirected. */
import { declareKind } from '../declare-filter.ts';
import type { ListenerFilterResource } from '../listener-filter.ts';

export type OriginalDstSettings = ListenerFilterResource<'original_dst'>;

export const ORIGINAL_DST_DECLARATION = declareKind<OriginalDstSettings>();
