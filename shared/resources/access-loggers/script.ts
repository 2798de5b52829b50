/** The access logger that is a module of the operator's own. */
import type { ScriptModule } from '../../scripts/script-module.ts';
import type { AccessLogFilter } from '../access-log.ts';

export interface ScriptLogConfig {
  readonly kind: 'script';
  readonly module: ScriptModule;
  /** JSON, which the module's schema reads. */
  readonly settings: string;
  readonly loopTimeoutMs: number;
  readonly loadTimeoutMs: number;
  readonly statPrefix: string;
  readonly filter?: AccessLogFilter;
}
