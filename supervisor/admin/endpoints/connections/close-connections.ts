/** `/connections/close`: ends connections of clients that a filter means. */
import type { AdminResponse } from '../../../http-pages/admin-response.ts';
import { BadParam, flag, parsed } from '../../../http-pages/params.ts';
import type { AdminContext } from '../../admin-context.ts';
import type { RequestOf } from '../../admin-route.ts';
import { textResponse } from '../../http/responses.ts';
import { FILTER_PARAMS, filterOf, seconds } from './connection-filter.ts';

/** A day. */
const OVER_MAX_MS = 24 * 60 * 60 * 1000;
const PERCENT = /^\d{1,3}(\.\d{1,3})?$/;

export const CLOSE_PARAMS = {
  ...FILTER_PARAMS,
  all: flag('Every connection is meant; without it, a filter is needed'),
  share: parsed(
    'Percent of them, chosen at random; 100 by default',
    (given) => {
      const share = PERCENT.test(given) ? Number(given) : -1;
      const isGood = share > 0 && share <= 100;
      return isGood ? share : new BadParam('share is a percentage above 0, up to 100\n');
    },
    100,
  ),
  over: seconds('Seconds within which each is closed at a random moment; 0 by default'),
  now: flag(
    'Cut open requests; without it, clients are asked to go with the next answer or a GOAWAY',
  ),
  cut_after: seconds('Seconds after which a connection that was asked to go is cut'),
};

export async function closeConnections(
  { params }: RequestOf<typeof CLOSE_PARAMS>,
  { connections }: AdminContext,
): Promise<AdminResponse> {
  const { all, share, over = 0, now, cut_after: cutAfterMs } = params;
  const filter = filterOf(params);
  if (Object.keys(filter).length === 0 && !all) {
    return textResponse('a filter is needed, or all\n', 400);
  }
  if (over > OVER_MAX_MS || (cutAfterMs ?? 0) > OVER_MAX_MS) {
    return textResponse(`over and cut_after are at most ${OVER_MAX_MS / 1000} seconds\n`, 400);
  }
  const answers = await connections.close({
    filter,
    sharePercent: share,
    overMs: over,
    cuts: now,
    ...(cutAfterMs !== undefined && { cutAfterMs }),
  });
  let chosen = 0;
  const failures: string[] = [];
  for (const answer of answers) {
    if (typeof answer === 'number') chosen += answer;
    else failures.push(answer.message);
  }
  const text = `${chosen} connections are closed${over > 0 ? ` over ${over / 1000} s` : ''}\n`;
  if (failures.length === 0) return textResponse(text);
  return textResponse(`${text}${failures.map((each) => `a worker: ${each}\n`).join('')}`, 503);
}
