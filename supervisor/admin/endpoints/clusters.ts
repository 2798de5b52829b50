/** `/clusters`: the cluster manager's view, as text or envoy.admin.v3.Clusters. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { AdminContext, AdminResponse, ClusterStatus } from '../admin-context.ts';
import type { EndpointRequest } from '../admin-route.ts';
import { JSON_TYPE, textResponse } from '../http/responses.ts';
import { printJsonList } from '../json-printer.ts';
import type { NameMatcher } from '../name-matcher.ts';
import { compileNameMatcher } from '../name-matcher.ts';
import { clusterMessage } from './clusters-json.ts';
import { renderClusterText } from './clusters-text.ts';

export async function answerClusters(
  request: EndpointRequest,
  context: AdminContext,
): Promise<AdminResponse> {
  const pattern = request.query.nonEmpty('filter');
  const filter = pattern === undefined ? undefined : compileNameMatcher(pattern);
  if (filter?.ok === false) return textResponse('Invalid re2 regex', 400);
  await context.clusters.refresh();
  const matcher = filter?.matcher;
  return request.query.first('format') === 'json'
    ? { status: 200, contentType: JSON_TYPE, body: renderJson(context, matcher) }
    : textResponse(renderText(context, matcher));
}

// Looked up one by one: the page is streamed, and a cluster may go away meanwhile.
function* statuses(context: AdminContext, matcher?: NameMatcher): Generator<ClusterStatus> {
  for (const name of context.clusters.names()) {
    if (matcher !== undefined && !matcher.contains(name)) continue;
    const status = context.clusters.status(name);
    if (status !== undefined) yield status;
  }
}

function* renderText(context: AdminContext, matcher?: NameMatcher): Generator<string> {
  for (const status of statuses(context, matcher)) yield renderClusterText(status);
}

function renderJson(context: AdminContext, matcher?: NameMatcher): Generator<string> {
  function* messages(): Generator<JsonObject> {
    for (const status of statuses(context, matcher)) yield clusterMessage(status);
  }
  return printJsonList('cluster_statuses', messages());
}
