/** `/clusters`: the cluster manager's view, as text or envoy.admin.v3.Clusters. */
import type { AdminContext, ClusterStatus } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { EndpointRequest } from '../admin-route.ts';
import { JSON_TYPE, textResponse } from '../http/responses.ts';
import type { NameMatcher } from '../name-matcher.ts';
import { compileNameMatcher } from '../name-matcher.ts';
import { clustersJson } from './clusters-json.ts';
import { clustersText } from './clusters-text.ts';

export async function answerClusters(
  request: EndpointRequest,
  context: AdminContext,
): Promise<AdminResponse> {
  const pattern = request.query.nonEmpty('filter');
  const filter = pattern === undefined ? undefined : compileNameMatcher(pattern);
  if (filter?.ok === false) return textResponse('Invalid re2 regex', 400);
  await context.clusters.refresh();
  const shown = statuses(context, filter?.matcher);
  return request.query.first('format') === 'json'
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
