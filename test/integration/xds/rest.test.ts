import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

function routes(version: string): string {
  const answer = {
    match: { prefix: '/' },
    direct_response: { status: 200, body: { inline_string: version } },
  };
  return JSON.stringify({ version_info: version, resources: [resource.routes('rc', [answer])] });
}

interface Asked {
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
}
type Handler = (request: Asked, response: { end(text: string): unknown }) => void;

async function listen(
  protocol: 'HTTP/1.1' | 'HTTP/2',
  handler: Handler,
): Promise<{ readonly port: number } & Disposable> {
  const server =
    protocol === 'HTTP/2' ? createHttp2Server(handler) : createServer(handler as RequestListener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.dispose]: () => void server.close() };
}

describe('resources over REST', () => {
  for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
    it(`are asked for again and again over one connection by ${protocol}, with the version that is in force`, async () => {
      let version = 'first';
      const asked: string[] = [];
      const handler: Handler = (request, response) => {
        let text = '';
        request.on('data', (chunk: Buffer) => (text += chunk.toString()));
        request.on('end', () => {
          const { 'x-envoy-internal': isOwn, 'x-forwarded-for': from } = request.headers;
          asked.push([isOwn, from, request.url, text].join(' '));
          response.end(version === '' ? '{' : routes(version));
        });
      };
      using server = await listen(protocol, handler);
      const options = protocol === 'HTTP/2' ? { http2_protocol_options: {} } : {};
      const source = {
        api_config_source: {
          api_type: 'REST',
          transport_api_version: 'V3',
          cluster_names: ['control'],
          refresh_delay: '0.02s',
          // An answer that comes too late ends its connection.
          request_timeout: '60s',
        },
        resource_api_version: 'V3',
      };
      const hcm = {
        route_config: undefined,
        rds: { config_source: source, route_config_name: 'rc' },
      };
      await using sluice = await startSluice({
        bootstrap: {
          node: { id: 'me', cluster: 'mine' },
          admin: ADMIN,
          static_resources: {
            listeners: [httpListener([], { hcm })],
            clusters: [staticCluster('control', [server.port], options)],
          },
        },
      });
      const port = await sluice.listenerPort('web');
      const body = async (): Promise<string> => (await fetchOnce({ port, path: '/' })).body;
      assert.equal(await body(), 'first');
      assert.match(
        asked[0] ?? '',
        /^true [\d.]+ \/v3\/discovery:routes .*"id":"me".*"resource_names":\["rc"\]/,
      );
      version = 'second';
      await waitUntil('the second version', async () => (await body()) === 'second');
      await waitUntil('a request that names it', () =>
        asked.some((text) => text.includes('"version_info":"second"')),
      );
      version = '';
      await sluice.waitForStat('http.web.rds.rc.update_rejected', (count) => count > 0);
      assert.equal(await body(), 'second');
      assert.equal(await sluice.stat('cluster.control.upstream_cx_total'), 1);
    });
  }
});
