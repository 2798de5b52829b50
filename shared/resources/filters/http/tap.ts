/** Settings and stats of envoy.filters.http.tap. */
import type { FilterResource } from '../declare-filter.ts';
import type { TapFilterOptions } from '../../tap.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

/** Prefix: `http.<stat_prefix>.tap.` */
export const TAP = defineTemplate('tap', {
  rq_sampled_out: counter('Requests that the share to be recorded left out'),
  rq_tapped: counter('Recorded requests'),
});

export type TapFilterSettings = FilterResource<'tap', TapFilterOptions>;

export const TAP_DECLARATION = declareKind<TapFilterSettings>(TAP);
