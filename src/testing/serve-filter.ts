/** A real server with one filter in front of an upstream, for tests. */
import {
  createServer,
  type OutgoingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSluice } from '../library/create-sluice.ts';
import { HeaderMap } from '../../workers/stream/header-map.ts';
import { CollectedRequest, responseMessage } from './tested-messages.ts';
import type * as api from './testing-api.ts';

const TYPES = 'type.googleapis.com/';
const NAME = 'test';
/** The limit of one request that an upstream is sent. */
const REQUEST_BYTES_MAX = 64 * 1024 * 1024;

export const serveFilter: typeof api.serveFilter = async (file, options = {}) => {
  const upstreams = new Map(Object.entries(options.clusters ?? {}));
  upstreams.set('upstream', options.upstream ?? (() => undefined));
  const servers = new Map<string, Server>();
  const end = (): void => {
    for (const server of servers.values()) server.closeAllConnections();
    for (const server of servers.values()) server.close();
  };
  try {
    for (const [name, upstream] of upstreams) servers.set(name, await serve(upstream));
    const { concurrency, onLog } = options;
    const sluice = createSluice({
      config: bootstrap(file, options, servers),
      ...(concurrency !== undefined && { concurrency }),
      ...(onLog !== undefined && { onLog }),
    });
    try {
      await sluice.ready();
      const port = await sluice.listenerPort(NAME);
      return {
        url: `http://127.0.0.1:${port}`,
        pid: sluice.pid,
        stat: async (stat) => {
          const name = `http.${NAME}.script.${NAME}.${stat}`;
          const value = (await sluice.stats('script')).get(name);
          if (value === undefined) throw new Error(`there is no statistic ${stat}`);
          return value;
        },
        admin: async (path, method) => await sluice.admin(path, method),
        close: async () => {
          end();
          await sluice.close();
        },
      };
    } catch (error) {
      await sluice.close();
      throw error;
    }
  } catch (error) {
    end();
    throw error;
  }
};

async function serve(upstream: api.Upstream): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    // What it throws is a connection that breaks off.
    answer(upstream, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function answer(
  upstream: api.Upstream,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const {
    status = 200,
    headers = {},
    body,
    trailers,
  } = (await upstream(await read(incoming))) ?? {};
  const { pieces } = responseMessage({ body: body ?? '' });
  outgoing.writeHead(status, headers as OutgoingHttpHeaders);
  for (const piece of pieces) outgoing.write(piece);
  if (trailers !== undefined) outgoing.addTrailers(trailers as OutgoingHttpHeaders);
  outgoing.end();
}

async function read(incoming: IncomingMessage): Promise<api.ReceivedRequest> {
  const headers = new HeaderMap();
  headers.method = incoming.method ?? '';
  headers.path = incoming.url ?? '';
  headers.authority = incoming.headers.host ?? '';
  const { rawHeaders } = incoming;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers.add(rawHeaders[at]?.toLowerCase() ?? '', rawHeaders[at + 1] ?? '');
  }
  const request = new CollectedRequest(headers);
  let length = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > REQUEST_BYTES_MAX) throw new RangeError('the request is too large');
    request.add(piece);
  }
  return request;
}

function bootstrap(
  file: string,
  { settings, fields }: api.ServeOptions,
  servers: ReadonlyMap<string, Server>,
): object {
  const router = `${TYPES}envoy.extensions.filters.http.router.v3.Router`;
  const script = {
    '@type': `${TYPES}sluice.filters.http.script.v1.Script`,
    file,
    ...(settings !== undefined && { settings }),
    ...fields,
  };
  const manager = {
    '@type': `${TYPES}envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: NAME,
    route_config: {
      virtual_hosts: [
        {
          name: NAME,
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'upstream' } }],
        },
      ],
    },
    http_filters: [
      { name: NAME, typed_config: script },
      { name: 'router', typed_config: { '@type': router } },
    ],
  };
  return {
    static_resources: {
      listeners: [
        {
          name: NAME,
          address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
          filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
        },
      ],
      clusters: [...servers].map(([name, server]) => ({
        name,
        load_assignment: {
          cluster_name: name,
          endpoints: [
            {
              lb_endpoints: [
                {
                  endpoint: {
                    address: {
                      socket_address: {
                        address: '127.0.0.1',
                        port_value: (server.address() as AddressInfo).port,
                      },
                    },
                  },
                },
              ],
            },
          ],
        },
      })),
    },
  };
}
