/**
 * The modules that configuration has named, in the version that workers are given. All users of a
 * file have one version of it, the newest that was found good; workers that start later too.
 */
import type { ScriptModule } from '../../shared/scripts/script-module.ts';

/** Files, and names of filters; what comes beyond is not loaded again on demand. */
const KNOWN_MAX = 10_000;

/** How a module was checked, and how it is checked again. */
export interface CheckRules {
  /** Below one of these its files must be; undefined: anywhere. */
  readonly folders: readonly string[] | undefined;
  readonly timeoutMs: number;
}

export interface KnownModule extends CheckRules {
  readonly module: ScriptModule;
}

const known = new Map<string, KnownModule>();
const byFilter = new Map<string, Set<string>>();

export function knownModule(entry: string): KnownModule | undefined {
  return known.get(entry);
}

/** By the names of the filters that run them; empty: no such filter is known. */
export function modulesOfFilter(name: string): readonly KnownModule[] {
  return [...(byFilter.get(name) ?? [])].flatMap((entry) => known.get(entry) ?? []);
}

export function hasModules(): boolean {
  return known.size > 0;
}

/** Everybody who has the module sees its newest version. Gives what everybody has. */
export function keepVersion(module: ScriptModule, rules: CheckRules): ScriptModule {
  const earlier = known.get(module.entry);
  if (earlier === undefined) {
    if (known.size < KNOWN_MAX) known.set(module.entry, { ...rules, module });
    return module;
  }
  // The bootstrap may name it, and a control plane too: what either may do stays allowed.
  const folders = earlier.folders === undefined ? undefined : rules.folders;
  const timeoutMs = Math.max(earlier.timeoutMs, rules.timeoutMs);
  Object.assign(earlier.module, module);
  known.set(module.entry, { module: earlier.module, folders, timeoutMs });
  return earlier.module;
}

export function keepFilter(name: string, { entry }: ScriptModule): void {
  let entries = byFilter.get(name);
  if (entries === undefined) {
    if (byFilter.size >= KNOWN_MAX) return;
    entries = new Set();
    byFilter.set(name, entries);
  }
  if (entries.size < KNOWN_MAX) entries.add(entry);
}
