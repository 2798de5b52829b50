/**
 * A script that chooses the cluster of each request. It runs to its end while the route is chosen, so
 * it is given little time; whatever goes wrong in it, the default cluster is taken.
 */
import { isFunction } from '../../shared/lua/call-state.ts';
import { LuaError, LuaLimitError } from '../../shared/lua/lua-error.ts';
import { LuaTable } from '../../shared/lua/lua-table.ts';
import { plainText } from '../../shared/lua/lua-state.ts';
import { ScriptMachine } from '../../shared/lua/script-machine.ts';
import { NO_VALUES, type LuaValue } from '../../shared/lua/values.ts';
import type { ClusterSpecifier } from '../../shared/resources/routes/route.ts';
import type { HeaderMap } from '../stream/header-map.ts';

export type ScriptedCluster = Extract<ClusterSpecifier, { readonly kind: 'script' }>;

const ENTRY = 'envoy_on_route';
/** The slices of a run: together some milliseconds. */
const SLICES_MAX = 20;

export function compileClusterScript(settings: ScriptedCluster): (headers: HeaderMap) => string {
  const { script, defaultCluster } = settings;
  const { source, modules } = script;
  const machine = new ScriptMachine(
    () => undefined,
    {},
    (name) => modules.get(name),
  );
  try {
    machine.load(source);
  } catch (error) {
    // The supervisor loaded it before; without its function the default is taken.
    if (!isScriptError(error)) throw error;
  }
  const callee = machine.state.globals.get(ENTRY);
  if (!isFunction(callee)) return () => defaultCluster;
  return (headers) => {
    try {
      const chosen = runToEnd(machine, callee, routeHandle(headers));
      if (typeof chosen === 'string') return chosen;
      return typeof chosen === 'number' ? plainText(chosen) : defaultCluster;
    } catch (error) {
      if (!isScriptError(error)) throw error;
      return defaultCluster;
    }
  };
}

function runToEnd(machine: ScriptMachine, callee: LuaValue, handle: LuaValue): LuaValue {
  const run = machine.start(callee, [handle]);
  for (let slice = 0; slice < SLICES_MAX; slice++) {
    const step = run.resume(undefined);
    if (!step.isOver) continue;
    const { results = NO_VALUES } = step;
    return Array.isArray(results) ? (results as readonly LuaValue[])[0] : (results as LuaValue);
  }
  run.end();
  return undefined;
}

/** `handle:headers():get(name)`, which is all that Envoy has of a request here. */
function routeHandle(headers: HeaderMap): LuaValue {
  const map = new LuaTable();
  map.set('get', (_self, name) =>
    typeof name === 'string' ? headers.getAll(name.toLowerCase()) : undefined,
  );
  const handle = new LuaTable();
  handle.set('headers', () => map);
  return handle;
}

function isScriptError(error: unknown): boolean {
  return error instanceof LuaError || error instanceof LuaLimitError;
}
