/** What all messages that name a module have: the module itself, its settings and its limits. */
import type { Script } from '../../shared/api/generated/sluice/filters/http/script/v1/script.ts';
import type { ScriptModule } from '../../shared/scripts/script-module.ts';
import { checkedScript } from '../scripts/checked-scripts.ts';
import type { SettingsIssue } from '../scripts/pool-entry.ts';
import type { Scope } from './scope.ts';
import { durationMsOr } from './values.ts';

const LOOP_TIMEOUT_MS = 2_000;
const LOAD_TIMEOUT_MS = 5_000;

export interface NamedModule {
  readonly module: ScriptModule;
  readonly settings: string;
  readonly loopTimeoutMs: number;
  readonly loadTimeoutMs: number;
}

type ModuleMessage = Pick<
  Script,
  'file' | 'package' | 'settings' | 'loop_timeout' | 'load_timeout'
>;

/** Undefined after a reported problem. The module was checked before, in a thread. */
export function resolveModule(message: ModuleMessage, scope: Scope): NamedModule | undefined {
  const found = checkedScript(message);
  if (found === undefined) {
    scope.error(
      'reference',
      'control planes may name modules of scripts only below the folders of --script-folders',
    );
    return undefined;
  }
  if (!('module' in found)) {
    const field = message.package === undefined ? 'file' : 'package';
    const at = scope.at(field);
    const what = `cannot load the module ${message.file ?? message.package ?? ''}: ${found.fault}`;
    if (found.position === undefined) at.error('file', what);
    else at.errorIn(found.position, 'file', what);
    return undefined;
  }
  tellIssues(scope, found.issues[0] ?? []);
  return {
    module: found.module,
    settings: JSON.stringify(message.settings ?? {}),
    loopTimeoutMs: durationMsOr(message.loop_timeout, LOOP_TIMEOUT_MS),
    loadTimeoutMs: durationMsOr(message.load_timeout, LOAD_TIMEOUT_MS),
  };
}

export function tellIssues(scope: Scope, issues: readonly SettingsIssue[]): void {
  for (const { path, message } of issues) {
    scope.at('settings', ...path).error('conflict', `settings.${path.join('.')}: ${message}`);
  }
}
