/** `/filters` and `/filters/reload`: the modules of the operator's own. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { AdminContext } from '../admin-context.ts';
import { jsonResponse, textResponse } from '../http/responses.ts';

export async function listFilters({ scripts }: AdminContext): Promise<AdminResponse> {
  const modules = await scripts.list();
  return jsonResponse({
    modules: modules.map(({ entry, filters, workers }): JsonObject => ({
      file: entry,
      filters: [...filters],
      workers: workers.map(({ index, digest, state }) => ({ index, version: digest, state })),
    })),
  });
}

export async function reloadFilters({ scripts }: AdminContext): Promise<AdminResponse> {
  const outcome = await scripts.reload();
  if (outcome === undefined) return textResponse('modules are being loaded already\n', 409);
  const { isDone, modules } = outcome;
  const answer = jsonResponse({
    modules: modules.map(({ entry, digest, outcome: what, error }): JsonObject => ({
      file: entry,
      version: digest,
      outcome: what,
      ...(error !== undefined && { error }),
    })),
  });
  return isDone ? answer : { ...answer, status: 500 };
}
