/** `/clusters`: the cluster manager's view, as text or envoy.admin.v3.Clusters. */
import type { AdminContext, ClusterStatus } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { BadParam, oneOf, words } from '../../http-pages/params.ts';
import type { RequestOf } from '../admin-route.ts';
import { JSON_TYPE, textResponse } from '../http/responses.ts';
import { nameMatcher, type NameMatcher } from '../name-matcher.ts';
import { clustersJson } from './clusters-json.ts';
import { clustersText } from './clusters-text.ts';

export const CLUSTERS_PARAMS = {
  filter: nameMatcher(
    'Regular expression (Google re2) for filtering clusters by name',
    () => new BadParam('Invalid re2 regex'),
  ),
  format: oneOf({ values: words('json'), byDefault: 'text' as const }),
};

export async function answerClusters(
  { params }: RequestOf<typeof CLUSTERS_PARAMS>,
  context: AdminContext,
): Promise<AdminResponse> {
  await context.clusters.refresh();
  const shown = statuses(context, params.filter);
  return params.format === 'json'
    ? { status: 200, contentType: JSON_TYPE, body: clustersJson(shown) }
    : textResponse(clustersText(shown));
}

// Looked up one by one: the page is streamed, and a cluster may go away meanwhile.
function* statuses(
  context: AdminContext,
  matcher?: NameMatcher,
): Generator<ClusterStatus | undefined> {
  for (const name of context.clusters.names()) {
    const isShown = matcher === undefined || matcher.contains(name);
    yield isShown ? context.clusters.status(name) : undefined;
  }
}
