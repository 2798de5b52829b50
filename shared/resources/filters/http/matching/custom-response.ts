/** Settings of envoy.filters.http.custom_response. */
import type { LocalReplyFormat } from '../../../local-reply.ts';
import type { HeaderValueOption } from '../../../routes/headers.ts';
import type { MatcherTree } from '../../../routes/matcher-tree.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

/** The answer that is sent in place of one that matched. */
export interface CustomAnswer {
  readonly kind: 'local_response';
  /** Absent: the response's own. */
  readonly status?: number;
  /** One character per byte. */
  readonly body: string;
  readonly format?: LocalReplyFormat;
  readonly headers: readonly HeaderValueOption[];
  /** Absent: those of the response are kept where `keepsDetails`, and there are none otherwise. */
  readonly details?: string;
  readonly keepsDetails: boolean;
}

export interface CustomResponseOptions {
  readonly tree?: MatcherTree<CustomAnswer>;
}

export type CustomResponseFilterSettings = FilterResource<'custom_response', CustomResponseOptions>;

export const CUSTOM_RESPONSE_DECLARATION = declareKind<CustomResponseFilterSettings>();
