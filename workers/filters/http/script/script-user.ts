/** One filter that runs a module, or a route's settings for it: what it runs now, and who waits for it. */
import { SCRIPT } from '../../../../shared/resources/filters/http/script/script.ts';
import type { FilterDefinition, FilterHandlers } from '../../../../shared/scripts/filter.ts';
import { type DefinedModule, definitionOf } from '../../../../shared/scripts/module-definition.ts';
import { moduleContext } from './module-context.ts';
import { ScriptInstance, type ScriptParts } from './script-instance.ts';
import type { ModuleUser } from '../../../scripts/host-modules.ts';
import type { ScriptStats } from './script-stats.ts';

/** Requests that wait for a module that is being loaded; others are refused by the policy. */
const WAITING_MAX = 1_000;

export class ScriptUser implements ModuleUser {
  readonly #parts: ScriptParts;
  readonly #settings: string;
  readonly #stats: ScriptStats;
  readonly #waiting = new Set<() => void>();
  readonly #leave: () => void;
  instance: ScriptInstance | undefined = undefined;
  #isLoading = true;

  constructor(parts: ScriptParts, settings: string, stats: ScriptStats) {
    this.#parts = parts;
    this.#settings = settings;
    this.#stats = stats;
    const { context } = parts;
    const joined = context.scripts.join(parts.settings.options.module, this);
    this.#leave = () => joined.leave();
    context.startTasks.add((done) => {
      void joined.ready.then(() => {
        this.#settled();
        done();
      });
    }, true);
    // Settings of a route come with a request, long after the start.
    void joined.ready.then(() => this.#settled());
  }

  get name(): string {
    return this.#parts.settings.name;
  }

  get loadTimeoutMs(): number {
    return this.#parts.settings.options.loadTimeoutMs;
  }

  get loopTimeoutMs(): number {
    return this.#parts.settings.options.loopTimeoutMs;
  }

  disable(): void {
    const { context, base } = this.#parts;
    this.instance = undefined;
    context.stats.setGauge(base + SCRIPT.index.disabled, 1);
  }

  async prepare(defined: DefinedModule, moduleId: number): Promise<() => void> {
    const definition = definitionOf(defined, 'filter');
    const { schema } = definition;
    const given: unknown = JSON.parse(this.#settings);
    const checked =
      schema === undefined ? { value: given } : await schema['~standard'].validate(given);
    if (checked.issues !== undefined) {
      const [issue] = checked.issues;
      throw new Error(`its settings are wrong: ${issue?.message ?? ''}`);
    }
    const handlers = await this.#create(definition, checked.value, moduleId);
    if (typeof handlers !== 'object' || handlers === null) {
      throw new Error('create() gave no functions');
    }
    const instance = new ScriptInstance(this.#parts, handlers, moduleId, definition.state);
    return () => {
      this.instance = instance;
      this.#parts.context.stats.setGauge(this.#parts.base + SCRIPT.index.disabled, 0);
      this.#parts.context.stats.increment(this.#parts.base + SCRIPT.index.loads);
      this.#settled();
    };
  }

  /** A loop without end is the module's here too. */
  async #create(
    definition: FilterDefinition,
    settings: unknown,
    moduleId: number,
  ): Promise<FilterHandlers> {
    const { marks } = this.#parts;
    marks.enter(moduleId);
    let made: ReturnType<FilterDefinition['create']>;
    try {
      made = definition.create(
        settings,
        moduleContext(this.#parts.context, this.#stats, {
          name: this.#parts.settings.name,
          budget: this.#parts.budget,
        }),
      );
    } finally {
      marks.leave();
    }
    marks.awaits(moduleId);
    try {
      return await made;
    } finally {
      marks.awaitsNoMore();
    }
  }

  failed(error: unknown): void {
    this.#parts.context.stats.increment(this.#parts.base + SCRIPT.index.load_failures);
    this.#parts.log.write(error);
    this.#settled();
  }

  /** False: there is nothing to wait for. */
  wait(act: () => void): boolean {
    if (!this.#isLoading || this.#waiting.size >= WAITING_MAX) return false;
    this.#waiting.add(act);
    return true;
  }

  callOff(act: () => void): void {
    this.#waiting.delete(act);
  }

  release(): void {
    this.#leave();
  }

  #settled(): void {
    this.#isLoading = false;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const act of waiting) act();
  }
}
