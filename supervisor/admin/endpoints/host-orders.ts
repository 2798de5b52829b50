/** `/hosts` and `/hosts/state`: single hosts as an operator orders them. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { BadParam, oneOf, parsed, text, words } from '../../http-pages/params.ts';
import { isHostWeight, type NamedOrder, ORDERS_MAX } from '../../upstreams/hosts/host-orders.ts';
import type { AdminContext } from '../admin-context.ts';
import type { RequestOf } from '../admin-route.ts';
import { jsonResponse, okResponse, textResponse } from '../http/responses.ts';

/** A year. */
const TTL_MAX_S = 365 * 24 * 60 * 60;
const WHOLE = /^\d{1,10}$/;

export const HOST_STATE_PARAMS = {
  cluster: text('Name of the cluster'),
  host: text('The host as /clusters shows it, such as 10.0.0.1:80'),
  state: oneOf<'drain' | 'down' | 'up', undefined>({
    help: 'drain: open requests go on, new ones go elsewhere; down: as a host that fails; up: as if nothing had been ordered',
    values: words('drain', 'down', 'up'),
    byDefault: undefined,
    otherwise: new BadParam('state is one of drain, down, up\n'),
  }),
  weight: parsed(
    'Takes the place of the configured weight, from 1',
    (given) => {
      const weight = WHOLE.test(given) ? Number(given) : 0;
      return isHostWeight(weight) ? weight : new BadParam('weight is a whole number from 1\n');
    },
    undefined,
  ),
  ttl: parsed(
    'Seconds after which the order is taken back; without it, it holds until state=up',
    (given) => {
      const seconds = WHOLE.test(given) ? Number(given) : 0;
      const isGood = seconds >= 1 && seconds <= TTL_MAX_S;
      return isGood ? seconds : new BadParam(`ttl is a number of seconds up to ${TTL_MAX_S}\n`);
    },
    undefined,
  ),
};

const REFUSALS = {
  no_cluster: { status: 404, text: 'there is no such cluster\n' },
  no_host: { status: 404, text: 'the cluster has no such host\n' },
  too_many: { status: 503, text: `there are ${ORDERS_MAX} orders already\n` },
} as const;

export function orderHost(
  { params }: RequestOf<typeof HOST_STATE_PARAMS>,
  { hosts, clock }: AdminContext,
): AdminResponse {
  const { cluster, host, state, weight, ttl } = params;
  if (cluster === undefined || host === undefined) {
    return textResponse('cluster and host are needed\n', 400);
  }
  if (state === 'up' && weight === undefined) {
    const wasThere = hosts.takeBack(cluster, host);
    return wasThere ? okResponse() : textResponse('nothing is ordered for that host\n', 404);
  }
  if (state === undefined && weight === undefined) {
    return textResponse('state or weight is needed\n', 400);
  }
  const refusal = hosts.put({
    cluster,
    host,
    ...(state !== undefined && state !== 'up' && { state }),
    ...(weight !== undefined && { weight }),
    ...(ttl !== undefined && { untilMs: clock.wallMs() + ttl * 1000 }),
  });
  if (refusal === undefined) return okResponse();
  return textResponse(REFUSALS[refusal].text, REFUSALS[refusal].status);
}

export function listOrders({ hosts }: AdminContext): AdminResponse {
  return jsonResponse({ orders: [...hosts.list()].map(orderMessage) });
}

function orderMessage({ cluster, host, state, weight, untilMs }: NamedOrder): JsonObject {
  return {
    cluster,
    host,
    ...(state !== undefined && { state }),
    ...(weight !== undefined && { weight }),
    ...(untilMs !== undefined && { until: new Date(untilMs).toISOString() }),
  };
}
