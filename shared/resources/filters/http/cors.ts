/** Settings and stats of envoy.filters.http.cors. */
import type { FilterResource, NoOptions } from '../declare-filter.ts';
import type { RuntimeFraction, StringMatcher } from '../../routes/matchers.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

/** The most specific of several levels counts, member by member; empty ones do not count. */
export interface CorsPolicy {
  readonly allowOrigins: readonly StringMatcher[];
  readonly allowMethods: string;
  readonly allowHeaders: string;
  readonly exposeHeaders: string;
  readonly maxAge: string;
  readonly allowCredentials?: boolean;
  readonly allowPrivateNetworkAccess?: boolean;
  /** Absent: they are. */
  readonly forwardNotMatchingPreflights?: boolean;
  readonly filterEnabled?: RuntimeFraction;
  readonly shadowEnabled?: RuntimeFraction;
}

/** Prefix: `http.<stat_prefix>.cors.` */
export const CORS = defineTemplate('cors', {
  origin_invalid: counter('Requests from an origin that is not allowed'),
  origin_valid: counter('Requests from an allowed origin'),
});

export type CorsFilterSettings = FilterResource<'cors', NoOptions>;

export const CORS_DECLARATION = declareKind<CorsFilterSettings>(CORS);
