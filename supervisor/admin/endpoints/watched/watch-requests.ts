/** `/logging/trace`: single requests whose way is logged at debug, whatever the levels are. */
import type { AdminResponse } from '../../../http-pages/admin-response.ts';
import { BadParam, flag, parsed, text } from '../../../http-pages/params.ts';
import type { AdminContext } from '../../admin-context.ts';
import type { RequestOf } from '../../admin-route.ts';
import { okResponse, textResponse } from '../../http/responses.ts';
import { readClient } from '../connections/connection-filter.ts';

const COUNT_MAX = 1_000;
const FOR_MAX_S = 60 * 60;
const FOR_DEFAULT_S = 60;
const WHOLE = /^\d{1,4}$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/;

export const WATCH_PARAMS = {
  path: text('Path without its query; * stands for anything'),
  client: parsed('IP address or range of the client', readClient, undefined),
  header: parsed(
    'name: value, a header that the request has',
    (given) => {
      const [, name, value = ''] = HEADER.exec(given) ?? [];
      if (name === undefined) return new BadParam('header is name: value\n');
      return { name: name.toLowerCase(), value };
    },
    undefined,
  ),
  count: number('Requests at most in each worker, 1 by default', 1, COUNT_MAX),
  for: number(
    `Seconds after which nothing is logged any more, ${FOR_DEFAULT_S} by default`,
    FOR_DEFAULT_S,
    FOR_MAX_S,
  ),
  off: flag('Logs no further request'),
};

export function watchRequests(
  { params }: RequestOf<typeof WATCH_PARAMS>,
  { logging }: AdminContext,
): AdminResponse {
  const { path, client, header, count, for: seconds, off } = params;
  if (off) {
    logging.watchRequests(undefined);
    return okResponse();
  }
  if (path === undefined && client === undefined && header === undefined) {
    return textResponse('path, client or header is needed\n', 400);
  }
  logging.watchRequests({
    ...(path !== undefined && { path }),
    ...(client !== undefined && { client }),
    ...(header !== undefined && { header }),
    count,
    forMs: seconds * 1000,
  });
  return okResponse();
}

function number(help: string, byDefault: number, most: number) {
  return parsed(
    help,
    (given) => {
      const value = WHOLE.test(given) ? Number(given) : 0;
      return value >= 1 && value <= most
        ? value
        : new BadParam(`a number from 1 to ${most} is needed\n`);
    },
    byDefault,
  );
}
