/** Settings and stats of envoy.filters.http.admission_control. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

/** A value of the configuration that the runtime may replace. */
export interface RuntimeNumber {
  readonly runtimeKey: string;
  readonly byDefault: number;
}

export interface AdmissionControlOptions {
  readonly enabled: { readonly runtimeKey: string; readonly byDefault: boolean };
  readonly windowMs: number;
  readonly aggression: RuntimeNumber;
  /** Percent. */
  readonly successRate: RuntimeNumber;
  readonly rpsThreshold: RuntimeNumber;
  /** Percent. */
  readonly maxRejection: RuntimeNumber;
  /** Statuses that are successes; the end is not one. */
  readonly httpSuccess: readonly { readonly start: number; readonly end: number }[];
  readonly grpcSuccess: readonly number[];
}

/** Prefix: `http.<stat_prefix of the manager>.admission_control.` */
export const ADMISSION_CONTROL = defineTemplate('admission_control', {
  rq_rejected: counter('Requests rejected since too many before them failed'),
  rq_success: counter('Responses that were successes'),
  rq_failure: counter('Responses that were failures'),
});

export type AdmissionControlFilterSettings = FilterResource<
  'admission_control',
  AdmissionControlOptions
>;

export const ADMISSION_CONTROL_DECLARATION =
  declareKind<AdmissionControlFilterSettings>(ADMISSION_CONTROL);
