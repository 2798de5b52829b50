/** Settings of envoy.filters.http.custom_response. */
import type { LocalReplyFormat } from '../../../local-reply.ts';
import type { HeaderValueOption } from '../../../routes/headers.ts';
import type { MatcherTree } from '../../../routes/matcher-tree.ts';
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { RedirectAction } from '../../../routes/route.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

/** What the client gets in place of a response that matched. */
export type CustomAnswer = LocalAnswer | RedirectedAnswer;

/** An answer of the configuration. */
export interface LocalAnswer {
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

/** The answer to another request. */
export interface RedirectedAnswer {
  readonly kind: 'redirect';
  readonly to: { readonly kind: 'uri'; readonly uri: string } | RedirectAction;
  /** Absent: that of the response that it replaces. */
  readonly status?: number;
  readonly requestHeaders: readonly HeaderValueOption[];
  readonly responseHeaders: readonly HeaderValueOption[];
}

/** Prefix: `http.<stat_prefix>.` */
export const CUSTOM_RESPONSE = defineTemplate('custom_response', {
  custom_response_redirect_no_route: counter(
    'Responses that were not replaced, because no route leads to what would replace them',
  ),
  custom_response_invalid_uri: counter(
    'Responses that were not replaced, because what would replace them has no address',
  ),
});

export interface CustomResponseOptions {
  readonly tree?: MatcherTree<CustomAnswer>;
}

export type CustomResponseFilterSettings = FilterResource<'custom_response', CustomResponseOptions>;

export const CUSTOM_RESPONSE_DECLARATION =
  declareKind<CustomResponseFilterSettings>(CUSTOM_RESPONSE);
