/** Settings of the network filter that is a module of the operator's own. */
import type { ScriptModule } from '../../../scripts/script-module.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter, gauge } from '../../../stats/templates/spec.ts';
import { declareKind } from '../declare-filter.ts';

/** Prefix: `script.<stat_prefix>.` */
export const NETWORK_SCRIPT = defineTemplate('network_script', {
  passed: counter('Connections that the module let pass'),
  refused: counter('Connections that the module refused'),
  failed: counter('Connections that the failure mode decided'),
  timeouts: counter('Promises that did not decide in time'),
  errors: counter('Exceptions and rejected promises of the module'),
  load_failures: counter('Versions of the module that could not be loaded'),
  disabled: gauge('1 while the module is switched off after it held a worker', 'accumulate'),
});

export interface NetworkScript {
  readonly kind: 'network_script';
  readonly statPrefix: string;
  readonly module: ScriptModule;
  /** JSON, which the module's schema reads. */
  readonly settings: string;
  readonly loopTimeoutMs: number;
  readonly loadTimeoutMs: number;
  readonly decisionTimeoutMs: number;
  readonly failureModeAllow: boolean;
}

export const NETWORK_SCRIPT_DECLARATION = declareKind<NetworkScript>(NETWORK_SCRIPT);
