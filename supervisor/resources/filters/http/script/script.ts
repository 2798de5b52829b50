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
import { routeIssues } from '../../../../scripts/checked-scripts.ts';
import { SCRIPT_PER_ROUTE_TYPE, SCRIPT_TYPE } from '../../../../scripts/find-scripts.ts';
import type { Scope } from '../../../scope.ts';
import { resolveModule, tellIssues } from '../../../scripts.ts';
import { durationMsOr } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const CALLBACK_TIMEOUT_MS = 15_000;

export const SCRIPT_FILTER = httpFilter(
  'sluice.filters.http.script',
  SCRIPT_TYPE,
  (message: Script, scope, name): ScriptFilterSettings | undefined => {
    const named = resolveModule(message, scope);
    if (named === undefined) return undefined;
    return {
      kind: 'script',
      name,
      options: {
        ...named,
        failsOpen: message.failure_policy === 'FAIL_OPEN',
        callbackTimeoutMs: durationMsOr(message.callback_timeout, CALLBACK_TIMEOUT_MS),
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
