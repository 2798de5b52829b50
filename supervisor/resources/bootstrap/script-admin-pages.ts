/** Resolves pages of the administration interface that are a module of the operator's own. */
import type { ScriptAdminPages } from '../../../shared/api/generated/sluice/admin_pages/script/v1/script.ts';
import type { AdminPages } from '../../resolved/admin-pages.ts';
import { checkedScript } from '../../scripts/checked-scripts.ts';
import { ADMIN_PAGES_TYPE } from '../../scripts/find-scripts.ts';
import { extension } from '../extensions.ts';
import type { Scope } from '../scope.ts';
import { resolveModule } from '../scripts.ts';
import { durationMsOr } from '../values.ts';

const ANSWER_TIMEOUT_MS = 5_000;

export const SCRIPT_ADMIN_PAGES = extension(
  'sluice.admin_pages.script',
  ADMIN_PAGES_TYPE,
  (message: ScriptAdminPages, scope: Scope): AdminPages | undefined => {
    const named = resolveModule(message, scope);
    const found = checkedScript(message);
    if (named === undefined || found === undefined || !('module' in found)) return undefined;
    const { module, settings, loadTimeoutMs } = named;
    const answerTimeoutMs = durationMsOr(message.answer_timeout, ANSWER_TIMEOUT_MS);
    return { module, settings, loadTimeoutMs, answerTimeoutMs, pages: found.pages ?? [] };
  },
);
