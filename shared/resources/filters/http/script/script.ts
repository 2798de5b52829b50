/** sluice.filters.http.script: modules of the operator's own. */
import type { ScriptModule } from '../../../../scripts/script-module.ts';
import { defineTemplate } from '../../../../stats/template.ts';
import { counter, gauge } from '../../../../stats/templates/spec.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

interface ScriptOptions {
  readonly module: ScriptModule;
  /** JSON, which the module's schema reads. */
  readonly settings: string;
  readonly failsOpen: boolean;
  readonly callbackTimeoutMs: number;
  readonly loopTimeoutMs: number;
  readonly loadTimeoutMs: number;
  readonly statPrefix: string;
}

export interface ScriptPerRoute {
  readonly isDisabled: boolean;
  readonly settings: string | undefined;
}

/** Prefix: `http.<stat_prefix>.script.<stat_prefix of the filter>.` */
export const SCRIPT = defineTemplate('script', {
  requests: counter('Requests that the module saw'),
  errors: counter('Exceptions and rejected promises of the module'),
  timeouts: counter('Promises that were not settled in time'),
  replies: counter('Requests that the module answered'),
  failed_open: counter('Requests that went on without the module after a fault'),
  failed_closed: counter('Requests that were refused after a fault'),
  loads: counter('Versions of the module that were loaded'),
  load_failures: counter('Versions of the module that could not be loaded'),
  disabled: gauge('1 while the module is switched off after it held a worker', 'accumulate'),
});

export type ScriptFilterSettings = FilterResource<'script', ScriptOptions>;

export const SCRIPT_DECLARATION = declareKind<ScriptFilterSettings>(SCRIPT);
