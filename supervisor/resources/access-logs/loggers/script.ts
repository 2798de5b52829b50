/** Resolves the access logger that is a module of the operator's own. */
import type { ScriptAccessLog } from '../../../../shared/api/generated/sluice/access_loggers/script/v1/script.ts';
import type { ScriptLogConfig } from '../../../../shared/resources/access-loggers/script.ts';
import { SCRIPT_LOG_TYPE } from '../../../scripts/find-scripts.ts';
import { extension } from '../../extensions.ts';
import type { Scope } from '../../scope.ts';
import { resolveModule } from '../../scripts.ts';

export const SCRIPT_LOGGER = extension(
  'sluice.access_loggers.script',
  SCRIPT_LOG_TYPE,
  (message: ScriptAccessLog, scope: Scope): ScriptLogConfig | undefined => {
    const named = resolveModule(message, scope);
    return named && { kind: 'script', ...named, statPrefix: message.stat_prefix ?? 'log' };
  },
);
