/**
 * `/`: the table of endpoints with forms for their parameters, and above it what the server is
 * doing now. The page works without JavaScript; the script only keeps it fresh.
 */
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { AdminRoute } from '../admin-route.ts';
import { renderCommandTable } from './command-table.ts';
import { renderOverview, type Load } from './overview.ts';
import { htmlPage } from './page-frame.ts';
import { countWorkerConnections } from './worker-connections.ts';

export async function answerHome(
  routes: readonly AdminRoute[],
  context: AdminContext,
): Promise<AdminResponse> {
  await context.clusters.refresh();
  const [{ listeners }, connectionsOf] = await Promise.all([
    context.commands.drainStatus(),
    countWorkerConnections(context),
  ]);
  const load = { listeners, connectionsOf };
  return htmlPage({
    hasScript: true,
    content: contentOf(routes, context, load),
  });
}

function* contentOf(
  routes: readonly AdminRoute[],
  context: AdminContext,
  load: Load,
): Generator<string> {
  yield '<div id="overview">\n';
  yield* renderOverview(context, load);
  yield `</div>\n${renderCommandTable(routes)}`;
}
