/** Resolves the network filter that is a module of the operator's own. */
import type { ScriptNetworkFilter } from '../../../../shared/api/generated/sluice/filters/network/script/v1/script.ts';
import type { NetworkScript } from '../../../../shared/resources/filters/network/script.ts';
import { SCRIPT_NETWORK_TYPE } from '../../../scripts/find-scripts.ts';
import type { Scope } from '../../scope.ts';
import { resolveModule } from '../../scripts.ts';
import { durationMsOr } from '../../values.ts';
import { networkFilter } from '../network-filter-row.ts';

const DECISION_TIMEOUT_MS = 15_000;

export const SCRIPT_NETWORK_FILTER = networkFilter(
  'sluice.filters.network.script',
  SCRIPT_NETWORK_TYPE,
  false,
  (message: ScriptNetworkFilter, scope: Scope): NetworkScript | undefined => {
    const named = resolveModule(message, scope);
    return (
      named && {
        kind: 'network_script',
        ...named,
        statPrefix: message.stat_prefix ?? 'filter',
        decisionTimeoutMs: durationMsOr(message.decision_timeout, DECISION_TIMEOUT_MS),
        failureModeAllow: message.failure_mode_allow === true,
      }
    );
  },
);
