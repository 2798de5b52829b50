/** Settings and stats of envoy.filters.http.csrf. */
import type { FilterResource } from '../declare-filter.ts';
import type { RuntimeFraction, StringMatcher } from '../../routes/matchers.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

export interface CsrfPolicy {
  readonly enabled: RuntimeFraction;
  readonly shadowEnabled?: RuntimeFraction;
  readonly additionalOrigins: readonly StringMatcher[];
}

/** Prefix: `http.<stat_prefix>.csrf.` */
export const CSRF = defineTemplate('csrf', {
  missing_source_origin: counter('Requests without an origin'),
  request_invalid: counter('Requests whose origin does not match'),
  request_valid: counter('Requests whose origin matches'),
});

export type CsrfFilterSettings = FilterResource<'csrf', CsrfPolicy>;

export const CSRF_DECLARATION = declareKind<CsrfFilterSettings>(CSRF);
