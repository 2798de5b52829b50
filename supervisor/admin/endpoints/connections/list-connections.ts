/** `/connections`: open connections of clients, streamed from the workers part by part. */
import {
  CONNECTION_ORDERS,
  type ConnectionOrder,
  type ConnectionRow,
} from '../../../../shared/connections/connections.ts';
import type { AdminResponse } from '../../../http-pages/admin-response.ts';
import { BadParam, oneOf, parsed, words } from '../../../http-pages/params.ts';
import type { AdminContext } from '../../admin-context.ts';
import type { RequestOf } from '../../admin-route.ts';
import { JSON_TYPE, TEXT } from '../../http/responses.ts';
import { printJsonAt } from '../../json-printer.ts';
import { mergeConnections, type NamedRow, type Outcome } from './merged-connections.ts';
import { FILTER_PARAMS, filterOf } from './connection-filter.ts';

const LIMIT_DEFAULT = 1_000;
const LIMIT_MAX = 1_000_000;
const WHOLE = /^\d{1,7}$/;
/** Rows that become one piece of the page. */
const ROWS_PER_PIECE = 64;

export const CONNECTIONS_PARAMS = {
  ...FILTER_PARAMS,
  sort: oneOf<ConnectionOrder, undefined>({
    help: 'The largest first',
    values: words(...CONNECTION_ORDERS),
    byDefault: undefined,
    otherwise: new BadParam(`sort is one of ${CONNECTION_ORDERS.join(', ')}\n`),
  }),
  limit: parsed(
    `Connections at most, ${LIMIT_DEFAULT} by default`,
    (given) => {
      const limit = WHOLE.test(given) ? Number(given) : 0;
      const isGood = limit >= 1 && limit <= LIMIT_MAX;
      return isGood ? limit : new BadParam(`limit is a number from 1 to ${LIMIT_MAX}\n`);
    },
    LIMIT_DEFAULT,
  ),
  format: oneOf({
    help: 'Lines for people, or JSON',
    values: words('text', 'json'),
    byDefault: 'text',
  }),
};

export function listConnections(
  { params }: RequestOf<typeof CONNECTIONS_PARAMS>,
  { connections }: AdminContext,
): AdminResponse {
  const { sort: order, limit, format } = params;
  const question = { filter: filterOf(params), limit, ...(order !== undefined && { order }) };
  // One more than is shown says whether there are more.
  const readers = connections.list({ ...question, limit: limit + 1 });
  const rows = mergeConnections(readers, order, limit);
  return format === 'json'
    ? { status: 200, contentType: JSON_TYPE, body: jsonPieces(rows) }
    : { status: 200, contentType: TEXT, body: textPieces(rows, limit) };
}

type Rows = AsyncGenerator<NamedRow, Outcome, undefined>;

async function* jsonPieces(rows: Rows): AsyncGenerator<string> {
  let opening = '{\n "connections": [\n  ';
  let piece = '';
  let count = 0;
  for (;;) {
    const step = await rows.next();
    if (step.done === true) {
      const { isCut, missing } = step.value;
      const end = count === 0 ? '{\n "connections": []' : '\n ]';
      const rest = printJsonAt({ truncated: isCut, silent_workers: missing }, 0);
      yield `${piece}${end},${rest.slice(1)}\n`;
      return;
    }
    piece += opening + printJsonAt(rowMessage(step.value), 2);
    opening = ',\n  ';
    if (++count % ROWS_PER_PIECE !== 0) continue;
    yield piece;
    piece = '';
  }
}

async function* textPieces(rows: Rows, limit: number): AsyncGenerator<string> {
  let piece = '';
  let count = 0;
  for (;;) {
    const step = await rows.next();
    if (step.done === true) {
      const { isCut, missing } = step.value;
      if (isCut) piece += `more than ${limit} connections: narrow the filter or raise limit\n`;
      for (const worker of missing) piece += `worker ${worker} did not answer\n`;
      if (piece !== '') yield piece;
      return;
    }
    piece += `${lineOf(step.value)}\n`;
    if (++count % ROWS_PER_PIECE !== 0) continue;
    yield piece;
    piece = '';
  }
}

function rowMessage({ worker, row }: NamedRow) {
  return {
    id: `${worker}:${row.id}`,
    listener: row.listener,
    filter_chain: row.filterChain,
    client: row.client,
    local: row.local,
    server_name: row.serverName,
    tls: row.tls,
    protocol: row.protocol,
    route: row.route,
    cluster: row.cluster,
    host: row.host,
    age_ms: row.ageMs,
    ...(row.idleMs !== undefined && { idle_ms: row.idleMs }),
    bytes_received: row.bytesReceived,
    bytes_sent: row.bytesSent,
    streams: row.streams,
    requests: row.requests.map(({ ageMs, ...request }) => ({ ...request, age_ms: ageMs })),
  };
}

/** Names in a line, each with its value; what is empty is left out. */
function lineOf({ worker, row }: NamedRow): string {
  const facts: readonly (readonly [string, string])[] = [
    ['listener', row.listener],
    ['client', row.client],
    ['server_name', row.serverName],
    ['protocol', row.protocol],
    ['tls', row.tls],
    ['route', row.route],
    ['cluster', row.cluster],
    ['host', row.host],
    ['age', inSeconds(row.ageMs)],
    ['idle', row.idleMs === undefined ? '' : inSeconds(row.idleMs)],
    ['received', String(row.bytesReceived)],
    ['sent', String(row.bytesSent)],
    ['streams', row.protocol === 'TCP' ? '' : String(row.streams)],
  ];
  const shown = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${oneWord(value)}`);
  return [`${worker}:${row.id}`, ...shown].join(' ');
}

function inSeconds(ms: ConnectionRow['ageMs']): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

/** Names may hold anything, and a line has to stay one. */
function oneWord(value: string): string {
  return /^[!#-~]+$/.test(value) ? value : JSON.stringify(value);
}
