/** Pages of the administration interface that are a module. */
import type { ScriptModule } from '../../shared/scripts/script-module.ts';

export interface AdminPages {
  /** Its newest version, however old this object is. */
  readonly module: ScriptModule;
  /** JSON, which the module's schema has checked. */
  readonly settings: string;
  readonly pages: readonly {
    readonly path: string;
    readonly help: string;
    readonly mutates: boolean;
  }[];
  readonly answerTimeoutMs: number;
  readonly loadTimeoutMs: number;
}
