/** The parameters that say which connections are meant. */
import { isIP } from '../../../../shared/addresses/ip-text.ts';
import type { ConnectionFilter, ConnectionId } from '../../../../shared/connections/connections.ts';
import { BadParam, parsed, type ParamValues, text } from '../../../http-pages/params.ts';

const SECONDS = /^\d{1,9}(\.\d{1,3})?$/;
const ID = /^(\d{1,4}):(\d{1,15})$/;
const PREFIX = /^\d{1,3}$/;

export const FILTER_PARAMS = {
  listener: text('Name of the listener'),
  client: parsed(
    'IP address, range such as 10.0.0.0/8, or address:port of the client',
    readClient,
    undefined,
  ),
  server_name: text('What the TLS client calls the server; *.example.com means every name below'),
  protocol: text('HTTP/1.1, HTTP/2, HTTP (nothing asked yet) or TCP'),
  route: text('Name of the route of an open request, or of the last one'),
  cluster: text('Its cluster'),
  host: text('Its host, such as 10.0.0.1:80'),
  older_than: seconds('Open for this many seconds or longer'),
  idle_for: seconds('Without a request for this many seconds or longer'),
  id: parsed('One connection, as worker:id', readId, undefined),
};

/** What of a query says which connections are meant. */
export function filterOf(given: ParamValues<typeof FILTER_PARAMS>): ConnectionFilter {
  const { server_name: serverName, older_than: olderThanMs, idle_for: idleForMs } = given;
  const { listener, client, protocol, route, cluster, host, id } = given;
  return {
    ...(listener !== undefined && { listener }),
    ...(client !== undefined && { client }),
    ...(serverName !== undefined && { serverName }),
    ...(protocol !== undefined && { protocol }),
    ...(route !== undefined && { route }),
    ...(cluster !== undefined && { cluster }),
    ...(host !== undefined && { host }),
    ...(olderThanMs !== undefined && { olderThanMs }),
    ...(idleForMs !== undefined && { idleForMs }),
    ...(id !== undefined && { id }),
  };
}

export function seconds(help: string): ReturnType<typeof parsed<number, undefined>> {
  return parsed(
    help,
    (given) =>
      SECONDS.test(given)
        ? Number(given) * 1000
        : new BadParam(`${JSON.stringify(given)} is no number of seconds\n`),
    undefined,
  );
}

/** An address, a range, or what clients print as their address. */
export function readClient(given: string): string | BadParam {
  const [ip = '', length, ...rest] = given.split('/');
  if (length === undefined) return given;
  const version = isIP(ip);
  const bits = version === 4 ? 32 : version === 6 ? 128 : -1;
  const isRange = rest.length === 0 && PREFIX.test(length) && Number(length) <= bits;
  return isRange ? given : new BadParam(`${JSON.stringify(given)} is no range of addresses\n`);
}

function readId(given: string): ConnectionId | BadParam {
  const [, worker, connection] = ID.exec(given) ?? [];
  if (worker === undefined) return new BadParam('id is worker:id, as /connections prints it\n');
  return { worker: Number(worker), connection: Number(connection) };
}
