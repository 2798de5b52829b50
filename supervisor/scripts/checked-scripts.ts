/**
 * The modules that configuration names, checked before the configuration is resolved: modules are
 * read and run in a thread, and resolving does not wait. What was found is kept with the message
 * that names the module.
 */
import type { ScriptPerRoute } from '../../shared/api/generated/sluice/filters/http/script/v1/script.ts';
import { findScripts, type FoundModule, type Named } from './find-scripts.ts';
import { hasModules, keepFilter, keepVersion, modulesOfFilter } from './module-versions.ts';
import type { CheckReply, SettingsIssue } from './pool-entry.ts';

const LOAD_TIMEOUT_MS = 5_000;

const checked = new WeakMap<object, CheckReply>();
const ofRoutes = new WeakMap<object, readonly SettingsIssue[]>();

/** What was found of a message; undefined: it has not been looked at. */
export function checkedScript(message: object): CheckReply | undefined {
  return checked.get(message);
}

/** What the module of its filter says of a route's settings. */
export function routeIssues(message: object): readonly SettingsIssue[] {
  return ofRoutes.get(message) ?? [];
}

/**
 * Looks for scripts in what is about to be resolved. `folders`: where their files may be; undefined:
 * anywhere; none: they are refused when they are resolved.
 */
export async function checkScripts(
  message: unknown,
  folders: readonly string[] | undefined,
): Promise<void> {
  const mayName = folders === undefined || folders.length > 0;
  if (!mayName && !hasModules()) return;
  const found = findScripts(message, hasModules());
  if (mayName) {
    for (const module of found.modules) await checkModule(module, folders);
  }
  await checkRoutes(found.ofRoutes);
}

async function checkModule(
  { kind, name, message }: FoundModule,
  folders: readonly string[] | undefined,
): Promise<void> {
  const { load_timeout: limitText } = message;
  const timeoutMs = limitText === undefined ? LOAD_TIMEOUT_MS : Number.parseFloat(limitText) * 1000;
  const { file = '', package: packageName = '' } = message;
  if ((file === '') === (packageName === '')) {
    checked.set(message, { fault: 'exactly one of `file` and `package` must be set' });
    return;
  }
  const { checkInPool } = await import('./check-pool.ts');
  const settings = [message.settings ?? {}];
  const reply = await checkInPool({
    kind,
    folders,
    file,
    package: packageName,
    settings,
    timeoutMs,
  });
  if (!('module' in reply)) return void checked.set(message, reply);
  const module = keepVersion(reply.module, { folders, timeoutMs });
  if (kind === 'filter') keepFilter(name, module);
  checked.set(message, { ...reply, module });
}

/**
 * A route names a filter, and filters of that name may run different modules: settings are refused
 * where none of them takes them. Those of a filter that is not known yet are left to the workers.
 */
async function checkRoutes(routes: readonly Named<ScriptPerRoute>[]): Promise<void> {
  const byName = new Map<string, ScriptPerRoute[]>();
  for (const { name, message } of routes) {
    if (message.settings === undefined) continue;
    const messages = byName.get(name);
    if (messages === undefined) byName.set(name, [message]);
    else messages.push(message);
  }
  for (const [name, messages] of byName) {
    const perModule: (readonly (readonly SettingsIssue[])[])[] = [];
    for (const { module, timeoutMs } of modulesOfFilter(name)) {
      const { checkInPool } = await import('./check-pool.ts');
      const settings = messages.map((each) => each.settings ?? {});
      const reply = await checkInPool({ kind: 'filter', module, settings, timeoutMs });
      if ('issues' in reply) perModule.push(reply.issues);
    }
    messages.forEach((message, at) => {
      const issues = perModule.map((each) => each[at] ?? []);
      ofRoutes.set(message, issues.some((each) => each.length === 0) ? [] : (issues[0] ?? []));
    });
  }
}
