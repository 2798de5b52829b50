/**
 * `/`: what the server is doing now, what it can be asked, and the table of endpoints with forms for
 * their parameters. The page works without JavaScript; the script keeps it fresh and shows answers
 * in place.
 */
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { AdminRoute, EndpointRequest } from '../admin-route.ts';
import { HTML } from '../http/responses.ts';
import { renderCommandTable } from './command-table.ts';
import { escapeHtml } from './escape-html.ts';
import { type Look, renderOverview, type Load } from './overview.ts';
import { htmlPage } from './page-frame.ts';
import { renderViews } from './views.ts';

/** Characters of what a reader looks for. */
const FIND_MAX = 200;

/** With `part=overview` the script gets what it shows afresh, and nothing else. */
export async function answerHome(
  { query }: Pick<EndpointRequest, 'query'>,
  routes: readonly AdminRoute[],
  context: AdminContext,
  isReadOnly: boolean,
): Promise<AdminResponse> {
  await context.clusters.refresh();
  const [{ listeners }, connectionsOf, refusals] = await Promise.all([
    context.commands.drainStatus(),
    context.turns.run(context.recent.openByWorker()),
    context.recent.refusals(),
  ]);
  const load = { listeners, connectionsOf, refusals };
  const find = (query.first('find') ?? '').trim().slice(0, FIND_MAX).toLowerCase();
  const look = { find, isReadOnly };
  if (query.first('part') === 'overview') {
    return { status: 200, contentType: HTML, body: renderOverview(context, load, look) };
  }
  return htmlPage({ hasScript: true, content: contentOf(routes, context, load, look) });
}

function* contentOf(
  routes: readonly AdminRoute[],
  context: AdminContext,
  load: Load,
  look: Look,
): Generator<string> {
  yield (
    `<form role="search" action="./" method="get"><input type="search" name="find" id="search" ` +
    `value="${escapeHtml(look.find)}" placeholder="Find clusters, hosts, listeners" ` +
    `aria-label="Find clusters, hosts and listeners by name">` +
    `<button class="post">Find</button></form>\n<p id="said" role="status"></p>\n` +
    `<div id="overview"${look.isReadOnly ? ' data-read-only' : ''}>\n`
  );
  yield* renderOverview(context, load, look);
  yield `</div>\n${renderViews(look.isReadOnly)}${renderCommandTable(routes)}`;
}
