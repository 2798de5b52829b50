/**
 * The modules that configuration names, checked before the configuration is resolved: modules are
 * read and run in a thread, and resolving does not wait. What was found is kept with the message
 * that names the module. All users of a file have one version of it, the newest that was found good.
 */
import type { Script } from '../../shared/api/generated/sluice/filters/http/script/v1/script.ts';
import type { ScriptModule } from '../../shared/scripts/script-module.ts';
import { typeNameOf } from '../config/type-name.ts';
import type { CheckReply } from './pool-entry.ts';

export const SCRIPT_TYPE = 'sluice.filters.http.script.v1.Script';

const LOAD_TIMEOUT_MS = 5_000;
/** Scripts of one message. */
const SCRIPTS_MAX = 10_000;

/** The largest messages of control planes, in which no filter can be. */
const WITHOUT_SCRIPTS = new Set([
  'envoy.config.cluster.v3.Cluster',
  'envoy.config.endpoint.v3.ClusterLoadAssignment',
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.extensions.transport_sockets.tls.v3.Secret',
]);
const checked = new WeakMap<object, CheckReply>();
const versions = new Map<string, ScriptModule>();

/** What was found of a message; undefined: it has not been looked at. */
export function checkedScript(message: object): CheckReply | undefined {
  return checked.get(message);
}

/**
 * Looks for scripts in what is about to be resolved. `folders`: where their files may be; undefined:
 * anywhere; none: they are refused when they are resolved.
 */
export async function checkScripts(
  message: unknown,
  folders: readonly string[] | undefined,
): Promise<void> {
  if (folders?.length === 0) return;
  for (const script of scriptsIn(message)) checked.set(script, await checkOne(script, folders));
}

async function checkOne(
  script: Script,
  folders: readonly string[] | undefined,
): Promise<CheckReply> {
  const { load_timeout: limitText } = script;
  const timeoutMs = limitText === undefined ? LOAD_TIMEOUT_MS : Number.parseFloat(limitText) * 1000;
  const task = {
    folders,
    file: script.file ?? '',
    package: script.package ?? '',
    settings: script.settings ?? {},
    timeoutMs,
  };
  if ((task.file === '') === (task.package === '')) {
    return { fault: 'exactly one of `file` and `package` must be set' };
  }
  const { checkInPool } = await import('./check-pool.ts');
  const reply = await checkInPool(task);
  return 'module' in reply ? { ...reply, module: shared(reply.module) } : reply;
}

/** Everybody who has the module sees its newest version, workers that start later too. */
function shared(module: ScriptModule): ScriptModule {
  const known = versions.get(module.entry);
  if (known === undefined) {
    versions.set(module.entry, module);
    return module;
  }
  return Object.assign(known, module);
}

function scriptsIn(message: unknown): Script[] {
  const found: Script[] = [];
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || found.length >= SCRIPTS_MAX) return;
    if (Array.isArray(value)) return value.forEach(look);
    if (value instanceof Uint8Array) return;
    const { '@type': url } = value as { readonly '@type'?: unknown };
    const type = typeof url === 'string' ? typeNameOf(url) : '';
    if (WITHOUT_SCRIPTS.has(type)) return;
    if (type === SCRIPT_TYPE) found.push(value);
    else for (const each of Object.values(value)) look(each);
  };
  look(message);
  return found;
}
