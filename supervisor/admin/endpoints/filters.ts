/** `/filters` and `/filters/reload`: the modules of the operator's own, and filters that were left out. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { AdminContext } from '../admin-context.ts';
import { jsonResponse, textResponse } from '../http/responses.ts';

export async function listFilters(context: AdminContext): Promise<AdminResponse> {
  const modules = await context.scripts.list();
  const skipped = await context.turns.run(context.skippedFilters());
  return jsonResponse({
    modules: modules.map(({ entry, filters, workers }): JsonObject => ({
      file: entry,
      filters: [...filters],
      workers: workers.map(({ index, digest, state }) => ({ index, version: digest, state })),
    })),
    skipped: skipped.map(({ kind, resource, name, type }) => ({ kind, resource, name, type })),
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
