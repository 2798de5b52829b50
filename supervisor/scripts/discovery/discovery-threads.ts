/** The modules that find hosts: clusters that name the same one share its thread. */
import type { ScriptModule } from '../../../shared/scripts/script-module.ts';
import type { DiscoveryReport } from './discovery-messages.ts';
import { DiscoveryThread, type ThreadLimits } from './discovery-thread.ts';

interface DiscoveryTask extends ThreadLimits {
  readonly cluster: string;
  /** Its newest version, however old this object is. */
  readonly module: ScriptModule;
  /** JSON. */
  readonly settings: string;
}

/** What is told of one cluster. */
export interface DiscoveryListener {
  /** A list; `next` is called when it was looked at. */
  hosts(answer: Uint8Array): void;
  /** A list that is none; the same is true of it. */
  refused(reason: string): void;
  /** The module has a newer version: it is begun again. */
  replaced(): void;
  /** No other list comes. Undefined: the module said so itself. */
  ended(reason: string | undefined): void;
  log(level: 'debug' | 'info' | 'warning' | 'error', text: string): void;
}

export interface RunningDiscovery {
  next(pauseMs: number): void;
  close(): void;
}

interface Run {
  readonly task: DiscoveryTask;
  readonly listener: DiscoveryListener;
}

/** The thread of one module, with its clusters. */
interface ModuleThread {
  readonly thread: DiscoveryThread;
  readonly runs: Map<number, Run>;
}

/** Modules, not clusters. */
const THREADS_MAX = 64;

class DiscoveryThreads {
  readonly #threads = new Map<string, ModuleThread>();
  #lastId = 0;

  /** Undefined: there are too many of them. */
  open(task: DiscoveryTask, listener: DiscoveryListener): RunningDiscovery | undefined {
    const { entry, digest } = task.module;
    if (this.#threads.get(entry)?.thread.digest !== digest) this.#replace(entry);
    const own = this.#threads.get(entry) ?? this.#begin(task);
    if (own === undefined) return undefined;
    const id = ++this.#lastId;
    own.runs.set(id, { task, listener });
    const { cluster, settings } = task;
    own.thread.send({ order: 'start', id, cluster, settings });
    return {
      next: (pauseMs) => own.thread.send({ order: 'next', id, pauseMs }),
      close: () => {
        if (!own.runs.delete(id)) return;
        own.thread.send({ order: 'stop', id });
        if (own.runs.size === 0) this.#end(entry, own);
      },
    };
  }

  /** The files of the modules that find hosts now. */
  entries(): readonly string[] {
    return [...this.#threads.keys()];
  }

  /** What the module of this file is given by its clusters. */
  settingsOf(entry: string): readonly unknown[] {
    const runs = [...(this.#threads.get(entry)?.runs.values() ?? [])];
    return runs.map(({ task }) => JSON.parse(task.settings) as unknown);
  }

  /** Begins those again that have another version than their thread. */
  replaceChanged(): void {
    for (const [entry, { thread, runs }] of this.#threads) {
      const [first] = runs.values();
      if (first !== undefined && first.task.module.digest !== thread.digest) this.#replace(entry);
    }
  }

  #begin({ module, ...limits }: DiscoveryTask): ModuleThread | undefined {
    if (this.#threads.size >= THREADS_MAX) return undefined;
    const { entry } = module;
    const runs = new Map<number, Run>();
    const thread = new DiscoveryThread({
      ...limits,
      module,
      took: (report) => this.#took(runs, report),
      ended: (reason) => {
        this.#end(entry, own);
        for (const { listener } of take(runs)) listener.ended(reason);
      },
    });
    const own: ModuleThread = { thread, runs };
    this.#threads.set(entry, own);
    return own;
  }

  #took(runs: Map<number, Run>, report: DiscoveryReport): void {
    if (!('id' in report)) return;
    const { listener } = runs.get(report.id) ?? {};
    switch (report.report) {
      case 'hosts':
        return listener?.hosts(report.answer);
      case 'refused':
        return listener?.refused(report.reason);
      case 'log':
        return listener?.log(report.level, report.text);
      case 'ended':
        // The thread stays: its cluster begins again, or keeps the hosts that it has.
        listener?.ended(report.reason);
    }
  }

  #replace(entry: string): void {
    const own = this.#threads.get(entry);
    if (own === undefined) return;
    this.#end(entry, own);
    for (const { listener } of take(own.runs)) listener.replaced();
  }

  #end(entry: string, own: ModuleThread): void {
    own.thread.end();
    if (this.#threads.get(entry) === own) this.#threads.delete(entry);
  }
}

/** Those of the process. */
export const discoveryThreads = new DiscoveryThreads();

function take(runs: Map<number, Run>): readonly Run[] {
  const all = [...runs.values()];
  runs.clear();
  return all;
}
