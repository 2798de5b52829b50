/** Loads scripts of a configuration once, with the modules that they require from files. */
import { checkScript } from '../../shared/lua/check-script.ts';
import type { ModuleSource } from '../../shared/lua/lib/module-library.ts';
import type { LuaScript } from '../../shared/resources/filters/http/lua/lua.ts';
import { readConfiguredFileNow } from '../config/configured-file.ts';
import type { Scope } from './scope.ts';

const MODULE_BYTES_MAX = 4 * 1024 * 1024;

/** A script that does not load is a problem of the configuration. */
export function loadScript(source: string, scope: Scope): LuaScript {
  const { problem, modules } = checkScript(source, (_name, files) => moduleOf(files));
  if (problem !== undefined) scope.error('conflict', `script load error: ${problem}`);
  return { source, modules };
}

function moduleOf(files: readonly string[]): ModuleSource | undefined {
  for (const file of files) {
    try {
      return { source: readConfiguredFileNow(file, MODULE_BYTES_MAX).toString('latin1'), file };
    } catch {
      // It is not there, or must not be read: the next one, as LuaJIT does.
    }
  }
  return undefined;
}
