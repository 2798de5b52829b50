/** `/init_dump`: envoy.admin.v3.UnreadyTargetsDumps of what start-up still waits for. */
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { text } from '../../http-pages/params.ts';
import type { RequestOf } from '../admin-route.ts';
import { jsonResponse } from '../http/responses.ts';

export const INIT_DUMP_PARAMS = {
  mask: text(
    'The desired component to dump unready targets. The mask is parsed as a Protobuf::FieldMask. For example, get the unready targets of all listeners with /init_dump?mask=listener`',
  ),
};

export function answerInitDump(
  { params: { mask: component } }: RequestOf<typeof INIT_DUMP_PARAMS>,
  context: AdminContext,
): AdminResponse {
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
