/** What a part of the worker that runs a module of the operator's own needs of the worker's modules. */
import type { ScriptMarks } from '../../shared/limits/script-page.ts';
import type { ModuleContext } from '../../shared/scripts/context.ts';
import type { DefinedModule } from '../../shared/scripts/module-definition.ts';
import type { ScriptModule } from '../../shared/scripts/script-module.ts';

/** A part that waits for its module, or runs it. */
export interface ModuleUser {
  /** The name of the filter, log or cluster. */
  readonly name: string;
  readonly loadTimeoutMs: number;
  readonly loopTimeoutMs: number;
  /** Makes what the part runs, and gives what puts it in force. Rejects when it cannot. */
  prepare(defined: DefinedModule, moduleId: number): Promise<() => void>;
  /** Its module held a worker for too long, and is not run any more. */
  disable(): void;
  /** There is no version that this user can run. */
  failed(error: unknown): void;
}

/** The modules of this worker, as loggers and balancers know them. */
export interface HostModules {
  readonly marks: ScriptMarks;
  join(
    module: ScriptModule,
    user: ModuleUser,
  ): { readonly ready: Promise<void>; readonly leave: () => void };
  /** What `create` is given, and where stacks go; both until `release`. */
  surroundings(name: string, prefix: string): ModuleSurroundings;
}

export interface ModuleSurroundings {
  readonly context: ModuleContext;
  writeStack(error: unknown): void;
  release(): void;
}
