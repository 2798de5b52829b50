/**
 * `/`: the table of endpoints with forms for their parameters, and above it what the server is
 * doing now. The page works without JavaScript; the script only keeps it fresh.
 */
import type { AdminContext, AdminResponse } from '../admin-context.ts';
import type { AdminRoute } from '../admin-route.ts';
import { renderCommandTable } from './command-table.ts';
import { renderOverview } from './overview.ts';
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
    content: [
      `<div id="overview">\n${renderOverview(context, load)}</div>\n`,
      renderCommandTable(routes),
    ],
  });
}
