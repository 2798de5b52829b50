/**
 * `/stats?format=html`: the form of the statistics page with its present values, and the listing
 * below it. `active-html` is the same page, loaded again every few seconds.
 */
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { Query } from '../../http-pages/query.ts';
import { STATS_SHOWN } from '../../stats-output/stats-params.ts';
import { renderParam } from './command-table.ts';
import { escapeHtml } from './escape-html.ts';
import { htmlPage } from './page-frame.ts';

const ACTIVE_PERIOD_S = 5;

/** The listing is text; it is escaped here. */
export function statsForm(query: Query, listing: Iterable<string>): AdminResponse {
  const isActive = query.first('format') === 'active-html';
  return htmlPage({
    hasScript: false,
    head: isActive ? `<meta http-equiv="refresh" content="${ACTIVE_PERIOD_S}">\n` : '',
    content: formAndListing(query, listing),
  });
}

function* formAndListing(query: Query, listing: Iterable<string>): Generator<string> {
  const rows = STATS_SHOWN.map((param) => renderParam('stats', param, query.first(param.name)));
  yield (
    `<h1><a href="./">Sluice</a></h1>\n<table class="commands">\n<thead><tr><th>Command</th>` +
    `<th>Description</th></tr></thead>\n<tbody>\n<tr><td>` +
    `<form action="stats" method="get" id="stats"><button class="get">stats</button></form></td>` +
    `<td></td></tr>\n${rows.join('')}</tbody>\n</table>\n<pre>\n`
  );
  for (const chunk of listing) yield escapeHtml(chunk);
  yield '</pre>\n';
}
