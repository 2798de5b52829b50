/** Settings and stats of envoy.filters.http.transform. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { AccessLogFormat } from '../../../access-log.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';
import type { HeaderMutationRule } from '../header-mutation.ts';

/** A change of messages whose body is a JSON object. */
export interface Transformation {
  readonly headers: readonly HeaderMutationRule[];
  readonly body?: {
    readonly format: AccessLogFormat;
    /** The members that it has take the place of those that were sent; otherwise it is all. */
    readonly isMerged: boolean;
  };
}

export interface TransformOptions {
  readonly request?: Transformation;
  readonly response?: Transformation;
  /** A transformed request may take another route. */
  readonly clearsRoute: boolean;
}

/** Prefix: `http.<stat_prefix>..http_transform.` (with two dots, as in Envoy) */
export const TRANSFORM = defineTemplate('transform', {
  rq_transformed: counter('Requests that were transformed'),
  rs_transformed: counter('Answers that were transformed'),
});

export type TransformFilterSettings = FilterResource<'transform', TransformOptions>;

export const TRANSFORM_DECLARATION = declareKind<TransformFilterSettings>(TRANSFORM);
