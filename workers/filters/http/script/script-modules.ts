/**
 * The modules that this worker has loaded, by file. All filters that name a file run the same
 * version of it; a new one is loaded beside it, made ready for every filter, and then takes its
 * place at once. One that cannot be loaded leaves the older one where it is.
 */
import { systemClock, type Timer } from '../../../../shared/process/clock.ts';
import { type DefinedModule, definedModule } from '../../../../shared/scripts/module-definition.ts';
import { readerOf, runModule } from '../../../../shared/scripts/run-module.ts';
import type { ScriptModule } from '../../../../shared/scripts/script-module.ts';
import type { SharedNotice } from '../../../../shared/messages/shared-maps.ts';
import { SharedMaps } from './shared-maps.ts';
import { ScriptMarks } from '../../../../shared/limits/script-page.ts';
import type { ScriptState, ScriptVersion } from '../../../../shared/messages/script-messages.ts';
import type { ModuleUser } from '../../../scripts/host-modules.ts';
import type { ScriptNotice } from '../../../../shared/messages/worker-notices.ts';

/** What the worker has for them. */
export interface ScriptHost {
  marks(): ScriptMarks;
  every(periodMs: number, act: () => void): void;
  notify(notice: ScriptNotice | SharedNotice): void;
}

const BEAT_MS = 100;

const ALONE: ScriptHost = {
  marks: () => ScriptMarks.apart(),
  every: () => undefined,
  notify: () => undefined,
};

interface Version {
  readonly digest: string;
  readonly definition: DefinedModule;
}

export class ScriptModules {
  /** Those of all workers. */
  readonly maps: SharedMaps;
  readonly #modules = new Map<string, SharedModule>();
  readonly #disabled = new Set<number>();
  readonly #host: ScriptHost;
  #marks: ScriptMarks | undefined = undefined;

  constructor(host: ScriptHost = ALONE) {
    this.#host = host;
    this.maps = new SharedMaps((notice) => host.notify(notice));
  }

  /** The first that asks starts the beat by which the supervisor sees that this worker turns. */
  get marks(): ScriptMarks {
    if (this.#marks === undefined) {
      const marks = this.#host.marks();
      this.#marks = marks;
      this.#host.every(BEAT_MS, () => marks.beat());
    }
    return this.#marks;
  }

  /** This version is not run any more, by no filter that uses it. */
  disable(moduleId: number): void {
    this.#disabled.add(moduleId);
    for (const module of this.#modules.values()) module.disable(moduleId);
  }

  /** A filter that runs the module joins those that do; gives what ends that. */
  join(module: ScriptModule, user: ModuleUser): { readonly ready: Promise<void>; leave(): void } {
    const shared = this.#of(module.entry);
    shared.users.add(user);
    return {
      ready: shared.offer(module, user),
      leave: () => {
        shared.users.delete(user);
        if (shared.users.size === 0) this.#modules.delete(module.entry);
      },
    };
  }

  list(): readonly ScriptState[] {
    return [...this.#modules].map(([entry, shared]) => ({ entry, ...shared.state() }));
  }

  /** Loads a version beside the present one. Rejects when a filter cannot run it. */
  async prepare(module: ScriptModule): Promise<void> {
    await this.#modules.get(module.entry)?.prepare(module);
  }

  /**
   * Puts in force what was prepared, all of it in one turn of the loop; gives those that were not,
   * and changes nothing then.
   */
  async use(versions: readonly ScriptVersion[]): Promise<readonly ScriptVersion[]> {
    const acts: (() => void)[] = [];
    const missing: ScriptVersion[] = [];
    for (const version of versions) {
      const shared = this.#modules.get(version.entry);
      if (shared === undefined || shared.isPresent(version)) continue;
      const ready = await shared.prepared(version);
      if (ready === undefined) missing.push(version);
      else acts.push(ready);
    }
    if (missing.length === 0) for (const act of acts) act();
    return missing;
  }

  drop(): void {
    for (const shared of this.#modules.values()) shared.drop();
  }

  #of(entry: string): SharedModule {
    let shared = this.#modules.get(entry);
    if (shared === undefined) {
      shared = new SharedModule(this.#disabled, this.#host);
      this.#modules.set(entry, shared);
    }
    return shared;
  }
}

class SharedModule {
  readonly users = new Set<ModuleUser>();
  readonly #disabled: ReadonlySet<number>;
  readonly #host: ScriptHost;
  #present: Version | undefined = undefined;
  #prepared: { readonly digest: string; readonly ready: Promise<() => void> } | undefined;

  constructor(disabled: ReadonlySet<number>, host: ScriptHost) {
    this.#disabled = disabled;
    this.#host = host;
  }

  state(): Omit<ScriptState, 'entry'> {
    const { digest = '' } = this.#present ?? {};
    const isDisabled = digest !== '' && this.#disabled.has(idOf(digest));
    return {
      digest,
      state: digest === '' ? 'loading' : isDisabled ? 'disabled' : 'active',
      filters: [...new Set([...this.users].map(({ name }) => name))],
    };
  }

  isPresent({ digest }: ScriptVersion): boolean {
    return this.#present?.digest === digest;
  }

  /** What puts it in force. */
  async prepared({ digest }: ScriptVersion): Promise<(() => void) | undefined> {
    if (this.#prepared?.digest !== digest) return undefined;
    return await this.#prepared.ready;
  }

  drop(): void {
    this.#prepared = undefined;
  }

  disable(moduleId: number): void {
    if (this.#present === undefined || idOf(this.#present.digest) !== moduleId) return;
    for (const user of this.users) user.disable();
  }

  /** For one that joins: it gets the version, and a version that is new to all goes to all. */
  async offer(module: ScriptModule, user: ModuleUser): Promise<void> {
    const { digest } = module;
    // It may have held a worker before it was in force.
    if (this.#disabled.has(idOf(digest)) && this.#present === undefined) return user.disable();
    try {
      const present = this.#present;
      if (present?.digest === digest) await this.#take(user, present);
      else await this.use(module);
    } catch (error) {
      const present = this.#present;
      if (present === undefined || present.digest === digest) return user.failed(error);
      try {
        await this.#take(user, present);
      } catch (older) {
        user.failed(older);
      }
    }
  }

  async prepare(module: ScriptModule): Promise<void> {
    if (this.isPresent(module)) return;
    try {
      await this.#preparation(module);
    } catch (error) {
      for (const user of this.users) user.failed(error);
      throw error;
    }
  }

  async #take(user: ModuleUser, { definition, digest }: Version): Promise<void> {
    (await user.prepare(definition, idOf(digest)))();
    if (this.#disabled.has(idOf(digest))) user.disable();
  }

  #tell({ entry, digest }: ScriptModule): void {
    const loopTimeoutMs = Math.max(...[...this.users].map((user) => user.loopTimeoutMs));
    this.#host.notify({ kind: 'script_began', module: idOf(digest), entry, loopTimeoutMs });
  }

  async use(module: ScriptModule): Promise<void> {
    if (this.#present?.digest === module.digest) return;
    const putInForce = await this.#preparation(module);
    putInForce();
  }

  #preparation(module: ScriptModule): Promise<() => void> {
    const { digest } = module;
    if (this.#prepared?.digest === digest) return this.#prepared.ready;
    const ready = this.#load(module);
    this.#prepared = { digest, ready };
    const forget = (): void => {
      if (this.#prepared?.ready === ready) this.#prepared = undefined;
    };
    ready.catch(forget);
    return ready;
  }

  async #load(module: ScriptModule): Promise<() => void> {
    const { digest, entry } = module;
    const timeoutMs = Math.max(...[...this.users].map((user) => user.loadTimeoutMs));
    const exported = await within(timeoutMs, runModule(entry, readerOf(module), { timeoutMs }));
    const definition = definedModule(exported);
    if (definition === undefined) throw new Error(`${entry} exports no module`);
    this.#tell(module);
    const asked = [...this.users];
    const acts = await within(
      timeoutMs,
      Promise.all(asked.map(async (user) => await user.prepare(definition, idOf(digest)))),
    );
    return () => {
      if (this.#present?.digest === digest) return;
      this.#present = { digest, definition };
      this.#prepared = undefined;
      for (const act of acts) act();
      if (this.#disabled.has(idOf(digest))) this.disable(idOf(digest));
      // Those that joined meanwhile.
      for (const user of this.users) {
        if (asked.includes(user)) continue;
        user.prepare(definition, idOf(digest)).then(
          (act) => act(),
          (error: unknown) => user.failed(error),
        );
      }
    };
  }
}

/** Above 0, and of 28 bits. */
function idOf(digest: string): number {
  return Number.parseInt(digest.slice(0, 7), 16) || 1;
}

/** For what waits while it is loaded; a loop without end is stopped where it runs. */
async function within<Value>(limitMs: number, work: Promise<Value>): Promise<Value> {
  let timer: Timer | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = systemClock.after(limitMs, () => reject(new Error(`not loaded within ${limitMs} ms`)));
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    timer?.cancel();
  }
}
