/**
 * The module of one logger or balancer: it is joined, made ready, put in force, replaced, switched
 * off and left here. Whatever it throws is counted and written down, and nobody else ends.
 */
import type { ModuleContext } from '../../shared/scripts/context.ts';
import { type DefinedModule, definitionOf } from '../../shared/scripts/module-definition.ts';
import type { ModuleKind } from '../../shared/scripts/module-definition.ts';
import type { StandardSchema } from '../../shared/scripts/schema.ts';
import type { ScriptModule } from '../../shared/scripts/script-module.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { HostModules, ModuleSurroundings, ModuleUser } from './host-modules.ts';

/** The module, its settings and its limits, as the configuration names them. */
interface ModuleConfig {
  readonly module: ScriptModule;
  /** JSON, which the module's schema reads. */
  readonly settings: string;
  readonly loopTimeoutMs: number;
  readonly loadTimeoutMs: number;
}

export interface RunningModuleParts<Handlers> {
  readonly kind: ModuleKind;
  readonly name: string;
  readonly config: ModuleConfig;
  /** Of the module's own statistics; ends in a dot. */
  readonly prefix: string;
  readonly scripts: HostModules;
  readonly stats: StatWriter;
  /** Numbers of the part's own statistics. */
  readonly counted: Readonly<Record<'errors' | 'load_failures' | 'disabled', number>>;
  /** Throws where a function is missing that the part calls. */
  check(handlers: Handlers): void;
  /** A version is in force from now on. */
  began?(): void;
  /** A version is not run any more. */
  ended?(version: Version<Handlers>): void;
}

export interface Version<Handlers> {
  readonly handlers: Handlers;
  readonly moduleId: number;
}

interface Definition<Handlers> {
  readonly schema?: StandardSchema<unknown>;
  create(settings: unknown, context: ModuleContext): Handlers | Promise<Handlers>;
}

export class RunningModule<Handlers extends object> implements ModuleUser {
  /** Resolves when the module is in force, or cannot be. */
  readonly ready: Promise<void>;
  readonly #parts: RunningModuleParts<Handlers>;
  readonly #around: ModuleSurroundings;
  readonly #leave: () => void;
  #version: Version<Handlers> | undefined = undefined;

  constructor(parts: RunningModuleParts<Handlers>) {
    this.#parts = parts;
    this.#around = parts.scripts.surroundings(parts.name, parts.prefix);
    const joined = parts.scripts.join(parts.config.module, this);
    this.#leave = joined.leave;
    this.ready = joined.ready;
  }

  get name(): string {
    return this.#parts.name;
  }

  get loadTimeoutMs(): number {
    return this.#parts.config.loadTimeoutMs;
  }

  get loopTimeoutMs(): number {
    return this.#parts.config.loopTimeoutMs;
  }

  /** Undefined: there is none, or it is switched off. */
  get version(): Version<Handlers> | undefined {
    return this.#version;
  }

  async prepare(defined: DefinedModule, moduleId: number): Promise<() => void> {
    const { config, scripts, kind } = this.#parts;
    const definition = definitionOf(defined, kind) as unknown as Definition<Handlers>;
    const { schema } = definition;
    const given: unknown = JSON.parse(config.settings);
    const checked =
      schema === undefined ? { value: given } : await schema['~standard'].validate(given);
    if (checked.issues !== undefined) {
      throw new Error(`its settings are wrong: ${checked.issues[0]?.message ?? ''}`);
    }
    scripts.marks.enter(moduleId);
    let made: Handlers | Promise<Handlers>;
    try {
      made = definition.create(checked.value, this.#around.context);
    } finally {
      scripts.marks.leave();
    }
    const handlers: unknown = await made;
    if (typeof handlers !== 'object' || handlers === null) {
      throw new TypeError('create() gave no functions');
    }
    this.#parts.check(handlers as Handlers);
    return () => {
      const before = this.#version;
      this.#version = { handlers: handlers as Handlers, moduleId };
      this.#setDisabled(0);
      if (before !== undefined) this.#parts.ended?.(before);
      this.#parts.began?.();
    };
  }

  disable(): void {
    this.#version = undefined;
    this.#setDisabled(1);
  }

  failed(error: unknown): void {
    this.#count('load_failures');
    this.#around.writeStack(error);
  }

  /** Runs a function of the module; undefined after an exception. */
  run<Result>(moduleId: number, act: () => Result): Result | undefined {
    const { marks } = this.#parts.scripts;
    marks.enter(moduleId);
    try {
      return act();
    } catch (error) {
      this.noteFault(error);
      return undefined;
    } finally {
      marks.leave();
    }
  }

  noteFault(error: unknown): void {
    this.#count('errors');
    this.#around.writeStack(error);
  }

  /** No version is in force any more; gives the last one. */
  stop(): Version<Handlers> | undefined {
    const version = this.#version;
    this.#version = undefined;
    return version;
  }

  release(): void {
    this.stop();
    this.#leave();
    this.#around.release();
  }

  #setDisabled(value: 0 | 1): void {
    this.#parts.stats.setGauge(this.#parts.counted.disabled, value);
  }

  #count(stat: 'errors' | 'load_failures'): void {
    this.#parts.stats.increment(this.#parts.counted[stat]);
  }
}
