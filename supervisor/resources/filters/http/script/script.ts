/**
 * Resolves sluice.filters.http.script.v1. The module was checked before, in a thread
 * (supervisor/scripts); what was found of it is told here.
 */
import type {
  Script,
  ScriptPerRoute as PerRouteMessage,
} from '../../../../../shared/api/generated/sluice/filters/http/script/v1/script.ts';
import type {
  ScriptFilterSettings,
  ScriptPerRoute,
} from '../../../../../shared/resources/filters/http/script/script.ts';
import { checkedScript, routeIssues } from '../../../../scripts/checked-scripts.ts';
import { SCRIPT_PER_ROUTE_TYPE, SCRIPT_TYPE } from '../../../../scripts/find-scripts.ts';
import type { SettingsIssue } from '../../../../scripts/pool-entry.ts';
import type { Scope } from '../../../scope.ts';
import { durationMsOr } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const CALLBACK_TIMEOUT_MS = 15_000;
const LOOP_TIMEOUT_MS = 2_000;
const LOAD_TIMEOUT_MS = 5_000;

export const SCRIPT_FILTER = httpFilter(
  'sluice.filters.http.script',
  SCRIPT_TYPE,
  (message: Script, scope, name): ScriptFilterSettings | undefined => {
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
      kind: 'script',
      name,
      options: {
        module: found.module,
        settings: JSON.stringify(message.settings ?? {}),
        failsOpen: message.failure_policy === 'FAIL_OPEN',
        callbackTimeoutMs: durationMsOr(message.callback_timeout, CALLBACK_TIMEOUT_MS),
        loopTimeoutMs: durationMsOr(message.loop_timeout, LOOP_TIMEOUT_MS),
        loadTimeoutMs: durationMsOr(message.load_timeout, LOAD_TIMEOUT_MS),
        statPrefix: message.stat_prefix ?? name,
      },
    };
  },
  perRoute(SCRIPT_PER_ROUTE_TYPE, resolvePerRoute),
);

function resolvePerRoute(message: PerRouteMessage, scope: Scope): ScriptPerRoute {
  tellIssues(scope, routeIssues(message));
  return {
    isDisabled: message.disabled ?? false,
    settings: message.settings && JSON.stringify(message.settings),
  };
}

function tellIssues(scope: Scope, issues: readonly SettingsIssue[]): void {
  for (const { path, message } of issues) {
    scope.at('settings', ...path).error('conflict', `settings.${path.join('.')}: ${message}`);
  }
}
