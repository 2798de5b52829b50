/**
 * `/`: the table of endpoints with forms for their parameters, and above it what the server is
 * doing now. The page works without JavaScript; the script only keeps it fresh.
 */
import type { AdminContext, AdminResponse } from '../admin-context.ts';
import type { AdminRoute, EndpointRequest } from '../admin-route.ts';
import { HTML, textResponse } from '../http/responses.ts';
import { renderCommandTable } from './command-table.ts';
import { loadPageAssets } from './page-assets.ts';
import { renderOverview } from './overview.ts';

export async function answerHome(
  _request: EndpointRequest,
  routes: readonly AdminRoute[],
  context: AdminContext,
): Promise<AdminResponse> {
  const assets = await loadPageAssets();
  if (assets === undefined) {
    return textResponse('HTML output was disabled by building with SLUICE_ADMIN_HTML=disabled\n');
  }
  const page =
    `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n` +
    `<meta name="viewport" content="width=device-width, initial-scale=1">\n` +
    `<title>Sluice Admin</title>\n<link rel="icon" href="data:,">\n` +
    `<style>${assets.style}</style>\n</head>\n<body>\n` +
    `<main>\n<div id="overview">\n${renderOverview(context)}</div>\n` +
    `${renderCommandTable(routes)}</main>\n` +
    `<script>${assets.script}</script>\n</body>\n</html>\n`;
  return {
    status: 200,
    contentType: HTML,
    headers: {
      'content-security-policy': assets.policy,
      'referrer-policy': 'no-referrer',
    },
    body: page,
  };
}
