/** Settings and stats of envoy.filters.http.fault. */
import type { FilterResource } from '../declare-filter.ts';
import type { HeaderMatcher, RuntimeFraction } from '../../routes/matchers.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter, gauge } from '../../../stats/templates/spec.ts';

export interface FaultOptions {
  readonly delay?: {
    /** Absent: the length comes from `x-envoy-fault-delay-request`. */
    readonly fixedMs?: number;
    readonly percentage: RuntimeFraction;
  };
  readonly abort?: {
    /** Absent both: the status comes from a request header. */
    readonly httpStatus?: number;
    readonly grpcStatus?: number;
    readonly percentage: RuntimeFraction;
    /** In place of the usual words. */
    readonly body?: string;
  };
  readonly upstreamCluster: string;
  readonly headers: readonly HeaderMatcher[];
  readonly downstreamNodes: readonly string[];
  readonly maxActiveFaults?: number;
  readonly delayDurationRuntime: string;
  readonly abortHttpStatusRuntime: string;
  readonly maxActiveFaultsRuntime: string;
}

/** Prefix: `http.<stat_prefix>.fault.` */
export const FAULT = defineTemplate('fault', {
  aborts_injected: counter('Requests aborted on purpose'),
  active_faults: gauge('Faults under way'),
  delays_injected: counter('Requests delayed on purpose'),
  faults_overflow: counter('Faults not injected: too many were under way'),
  response_rl_injected: counter('Never counted: answers are not slowed down'),
});

export type FaultFilterSettings = FilterResource<'fault', FaultOptions>;

export const FAULT_DECLARATION = declareKind<FaultFilterSettings>(FAULT);
