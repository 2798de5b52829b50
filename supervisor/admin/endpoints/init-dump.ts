/** `/init_dump`: envoy.admin.v3.UnreadyTargetsDumps of what start-up still waits for. */
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { EndpointRequest } from '../admin-route.ts';
import { jsonResponse } from '../http/responses.ts';

export function answerInitDump(request: EndpointRequest, context: AdminContext): AdminResponse {
  const component = request.query.nonEmpty('mask');
  const targets = context.config
    .unreadyTargets()
    .filter((target) => component === undefined || target.component === component);
  if (targets.length === 0) return jsonResponse({});
  return jsonResponse({
    unready_targets_dumps: targets.map(({ name, targetNames }) =>
      targetNames.length === 0 ? { name } : { name, target_names: targetNames },
    ),
  });
}
