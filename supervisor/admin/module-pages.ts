/** Pages that are modules of the operator's own: rows beside those of the program. */
import type { AdminResponse } from '../http-pages/admin-response.ts';
import type { AdminPages } from '../resolved/admin-pages.ts';
import type { AdminContext } from './admin-context.ts';
import { type AdminRoute, type EndpointRequest, mutate, read } from './admin-route.ts';
import { textResponse } from './http/responses.ts';

/** Where the interface itself listens. */
export type OwnAddress = () => { readonly host: string; readonly port: number } | undefined;

/** Paths of the program stay the program's: a module's page of the same path is left out. */
export function modulePages(
  all: readonly AdminPages[],
  taken: ReadonlySet<string>,
  own: OwnAddress,
): AdminRoute[] {
  const routes = new Map<string, AdminRoute>();
  for (const pages of all) {
    for (const { path, help, mutates } of pages.pages) {
      if (taken.has(path) || routes.has(path)) continue;
      const handle = async (request: EndpointRequest, context: AdminContext) =>
        await answer(pages, path, { request, context, own });
      routes.set(path, (mutates ? mutate : read)({ path, help, handle }));
    }
  }
  return [...routes.values()];
}

interface Asked {
  readonly request: EndpointRequest;
  readonly context: AdminContext;
  readonly own: OwnAddress;
}

async function answer(
  { module, settings, loadTimeoutMs, answerTimeoutMs }: AdminPages,
  page: string,
  { request, context, own }: Asked,
): Promise<AdminResponse> {
  const { makePage } = await import('../scripts/page-pool.ts');
  const { method, query, body } = request;
  const reply = await makePage(
    {
      page,
      module,
      settings,
      loadTimeoutMs,
      method,
      query: [...query.entries()],
      body,
      admin: own(),
    },
    answerTimeoutMs,
  );
  if (!('fault' in reply)) return reply;
  context.log('error', `the page ${page} of ${module.entry}: ${reply.fault}`);
  return textResponse(`${page} failed; the log says why\n`, 500);
}
