/**
 * Loads modules again that have changed on disk: all of them in all workers, or none. They are
 * checked in a thread, made ready in every worker beside the present versions, and only then used.
 */
import type {
  ScriptAnswer,
  ScriptState,
  ScriptStep,
  ScriptVersion,
} from '../../shared/messages/script-messages.ts';
import type { ScriptModule } from '../../shared/scripts/script-module.ts';
import { errorText } from '../../shared/text/error-text.ts';
import { discoveryThreads } from './discovery/discovery-threads.ts';
import { keepVersion, knownModule, type KnownModule } from './module-versions.ts';

const LIST_LIMIT_MS = 2_000;
const USE_LIMIT_MS = 10_000;
/** Beyond the module's own time, once to load it and once for its filters. */
const PREPARE_EXTRA_MS = 5_000;

interface ScriptWorker {
  readonly index: number;
  /** Rejects when the worker has ended, or does not answer in time. */
  step(step: ScriptStep, limitMs: number): Promise<ScriptAnswer>;
}

export interface ScriptReloadOptions {
  /** Those that have their resources. */
  readonly workers: () => readonly ScriptWorker[];
  /** Modules that are run in this process, by their files. */
  readonly ownModules: readonly string[];
  readonly log: (level: 'info' | 'error', text: string) => void;
}

export interface ModuleStatus {
  readonly entry: string;
  readonly filters: readonly string[];
  readonly workers: readonly (Pick<ScriptState, 'digest' | 'state'> & { readonly index: number })[];
}

export interface ReloadedModule extends ScriptVersion {
  readonly outcome: 'reloaded' | 'unchanged' | 'failed' | 'kept';
  readonly error?: string;
}

export interface ReloadOutcome {
  readonly isDone: boolean;
  readonly modules: readonly ReloadedModule[];
}

interface Loaded {
  readonly known: KnownModule;
  readonly module: ScriptModule;
}

export class ScriptReload {
  readonly #options: ScriptReloadOptions;
  #isBusy = false;

  constructor(options: ScriptReloadOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly ModuleStatus[]> {
    const answers = await Promise.all(
      this.#options.workers().map(async (worker) => ({
        index: worker.index,
        // One that ends in between runs nothing.
        answer: await worker.step({ step: 'list' }, LIST_LIMIT_MS).catch(() => undefined),
      })),
    );
    const all = new Map<string, ModuleStatus & { readonly workers: object[] }>();
    for (const { index, answer } of answers) {
      for (const { entry, digest, state, filters } of answer?.modules ?? []) {
        const module = all.get(entry) ?? { entry, filters, workers: [] };
        all.set(entry, module);
        module.workers.push({ index, digest, state });
      }
    }
    return [...all.values()].toSorted((a, b) => (a.entry < b.entry ? -1 : 1));
  }

  /** Undefined: one is under way. */
  async reload(): Promise<ReloadOutcome | undefined> {
    if (this.#isBusy) return undefined;
    this.#isBusy = true;
    try {
      const outcome = await this.#reload();
      this.#tell(outcome);
      return outcome;
    } finally {
      this.#isBusy = false;
    }
  }

  /** What workers run, and what the supervisor runs in a thread. */
  async #all(): Promise<readonly ModuleStatus[]> {
    const listed = await this.list();
    const inThreads = [...this.#options.ownModules, ...discoveryThreads.entries()];
    const own = [...new Set(inThreads)].filter(
      (entry) => !listed.some((each) => each.entry === entry),
    );
    return [...listed, ...own.map((entry) => ({ entry, filters: [], workers: [] }))];
  }

  async #reload(): Promise<ReloadOutcome> {
    const failed: ReloadedModule[] = [];
    const changed: Loaded[] = [];
    const rest: ReloadedModule[] = [];
    for (const status of await this.#all()) {
      const loaded = await load(status.entry);
      if (typeof loaded === 'string') failed.push(failure(status, loaded));
      else if (isEverywhere(loaded, status)) {
        rest.push({ ...versionOf(loaded.module), outcome: 'unchanged' });
      } else changed.push(loaded);
    }
    if (failed.length === 0) failed.push(...(await this.#prepareAll(changed)));
    if (failed.length > 0) {
      await this.#inAll({ step: 'drop' }, USE_LIMIT_MS);
      const kept = changed.filter(
        ({ module }) => !failed.some(({ entry }) => entry === module.entry),
      );
      rest.push(
        ...kept.map(({ known }) => ({ ...versionOf(known.module), outcome: 'kept' as const })),
      );
      return { isDone: false, modules: [...failed, ...rest] };
    }
    await this.#useAll(changed);
    rest.push(
      ...changed.map(({ module }) => ({ ...versionOf(module), outcome: 'reloaded' as const })),
    );
    return { isDone: true, modules: rest };
  }

  async #prepareAll(changed: readonly Loaded[]): Promise<readonly ReloadedModule[]> {
    const failed: ReloadedModule[] = [];
    for (const { module, known } of changed) {
      const limitMs = 2 * known.timeoutMs + PREPARE_EXTRA_MS;
      const first = await this.#prepare({ step: 'prepare', module }, limitMs);
      if (first !== undefined) failed.push(failure(known.module, first));
    }
    return failed;
  }

  /** In one worker first: what a module does to it, it does not do to all. */
  async #prepare(step: ScriptStep, limitMs: number): Promise<string | undefined> {
    const [one] = this.#options.workers();
    if (one === undefined) return undefined;
    return (await tryStep(one, step, limitMs)) ?? (await this.#inAll(step, limitMs))[0];
  }

  /** Workers that start from now on get the new versions. */
  async #useAll(changed: readonly Loaded[]): Promise<void> {
    for (const { module, known } of changed) keepVersion(module, known);
    discoveryThreads.replaceChanged();
    const versions = changed.map(({ module }) => versionOf(module));
    await Promise.all(
      this.#options.workers().map(async (worker) => {
        try {
          const { missing = [] } = await worker.step({ step: 'use', versions }, USE_LIMIT_MS);
          if (missing.length > 0) await catchUp(worker, changed);
        } catch (error) {
          const text = `worker ${worker.index} goes on with older modules: ${errorText(error)}`;
          this.#options.log('error', text);
        }
      }),
    );
  }

  /** Gives what went wrong. */
  async #inAll(step: ScriptStep, limitMs: number): Promise<readonly string[]> {
    const faults = await Promise.all(
      this.#options.workers().map(async (worker) => await tryStep(worker, step, limitMs)),
    );
    return faults.filter((fault) => fault !== undefined);
  }

  #tell({ isDone, modules }: ReloadOutcome): void {
    const { log } = this.#options;
    for (const { entry, digest, outcome, error } of modules) {
      if (outcome === 'reloaded') log('info', `the script ${entry} has the version ${digest}`);
      if (outcome === 'failed') log('error', `the script ${entry} was not loaded again: ${error}`);
    }
    if (!isDone) log('error', 'all scripts keep their versions');
  }
}

function isEverywhere({ known, module: { digest } }: Loaded, { workers }: ModuleStatus): boolean {
  return known.module.digest === digest && workers.every((worker) => worker.digest === digest);
}

async function tryStep(
  worker: ScriptWorker,
  step: ScriptStep,
  limitMs: number,
): Promise<string | undefined> {
  try {
    return (await worker.step(step, limitMs)).error;
  } catch (error) {
    return `worker ${worker.index}: ${errorText(error)}`;
  }
}

/** Began after the others had prepared. */
async function catchUp(worker: ScriptWorker, changed: readonly Loaded[]): Promise<void> {
  for (const { module, known } of changed) {
    await worker.step({ step: 'prepare', module }, 2 * known.timeoutMs + PREPARE_EXTRA_MS);
  }
  const versions = changed.map(({ module }) => versionOf(module));
  await worker.step({ step: 'use', versions }, USE_LIMIT_MS);
}

/** What the files are now, or why they are no module. */
async function load(entry: string): Promise<Loaded | string> {
  const known = knownModule(entry);
  if (known === undefined) return 'it is not known here';
  const { folders, timeoutMs } = known;
  const { checkInPool } = await import('./check-pool.ts');
  const reply = await checkInPool({
    folders,
    file: entry,
    package: '',
    settings: discoveryThreads.settingsOf(entry),
    timeoutMs,
  });
  if ('module' in reply) {
    const [issue] = reply.issues.flat();
    if (issue === undefined) return { known, module: reply.module };
    return `settings.${issue.path.join('.')}: ${issue.message}`;
  }
  const { position } = reply;
  if (position === undefined) return reply.fault;
  return `${position.source}:${position.line}:${position.column}: ${reply.fault}`;
}

function versionOf({ entry, digest }: ScriptVersion): ScriptVersion {
  return { entry, digest };
}

function failure({ entry }: { readonly entry: string }, error: string): ReloadedModule {
  return { entry, digest: knownModule(entry)?.module.digest ?? '', outcome: 'failed', error };
}
