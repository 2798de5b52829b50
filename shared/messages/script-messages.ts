/** What workers are asked about the modules that they run, and what they answer. */
import type { ScriptModule } from '../scripts/script-module.ts';

/** A version of a module, without its texts. */
export interface ScriptVersion {
  readonly entry: string;
  readonly digest: string;
}

/** One module in one worker. */
export interface ScriptState extends ScriptVersion {
  /** `loading`: it has no version yet. `disabled`: it held a worker for too long. */
  readonly state: 'active' | 'loading' | 'disabled';
  /** Names of the filters that run it. */
  readonly filters: readonly string[];
}

export type ScriptStep =
  /** Tells what there is. */
  | { readonly step: 'list' }
  /** Loads a version beside the present one, and makes it ready for every filter that runs it. */
  | { readonly step: 'prepare'; readonly module: ScriptModule }
  /** Puts in force what was prepared, all at once. */
  | { readonly step: 'use'; readonly versions: readonly ScriptVersion[] }
  /** Forgets what was prepared. */
  | { readonly step: 'drop' };

export interface ScriptAnswer {
  /** The answer to `list`. */
  readonly modules?: readonly ScriptState[];
  /**
   * The answer to `use`: versions that were not prepared here, and are not in use; nothing was put
   * in force.
   */
  readonly missing?: readonly ScriptVersion[];
  /** Why a version cannot be run here. */
  readonly error?: string;
}
