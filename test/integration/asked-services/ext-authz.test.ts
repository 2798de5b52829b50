/** The filter ext_authz: what a service decides happens, and without a decision nothing passes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { type Answer, fetchOnce } from '../../support/peers/http-client.ts';
import {
  checkResponse,
  grpcCluster,
  textsAt,
} from '../../support/peers/services/asked-services.ts';
import {
  answerCall,
  framed,
  type SeenCall,
  startGrpcPeer,
} from '../../support/peers/services/grpc-peer.ts';
import { CLOSED_PORT, type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': `${TYPE}.router.v3.Router` },
};
const GRPC = { grpc_service: { envoy_grpc: { cluster_name: 'auth' }, timeout: '0.3s' } };

interface Running {
  readonly sluice: Sluice;
  readonly upstream: HttpUpstream;
  ask(
    path?: string,
    options?: { method?: string; body?: string; headers?: Record<string, string> },
  ): Promise<Answer>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startWith(config: object, auth: object): Promise<Running> {
  const upstream = await startHttpUpstream();
  const filter = {
    name: 'envoy.filters.http.ext_authz',
    typed_config: { '@type': `${TYPE}.ext_authz.v3.ExtAuthz`, ...config },
  };
  const off = {
    typed_per_filter_config: {
      'envoy.filters.http.ext_authz': {
        '@type': `${TYPE}.ext_authz.v3.ExtAuthzPerRoute`,
        disabled: true,
      },
    },
  };
  const routes = [
    { match: { prefix: '/off' }, route: { cluster: 'up' }, ...off },
    { match: { prefix: '/' }, route: { cluster: 'up' } },
  ];
  const sluice = await startSluice({
    args: ['-l', 'trace'],
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: [filter, ROUTER] } })],
      clusters: [staticCluster('up', [upstream.port]), auth],
    }),
  });
  const port = await sluice.listenerPort('web');
  return {
    sluice,
    upstream,
    ask: async (path = '/', options = {}) => fetchOnce({ port, path, ...options }),
    [Symbol.asyncDispose]: async () => {
      await sluice[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

function pathOf(call: SeenCall): string {
  return textsAt(call.body(), [1, 4, 2, 4])[0] ?? '';
}

describe('ext_authz over gRPC', () => {
  it('lets pass with changes, denies with an answer, and tells the service what is asked', async () => {
    await using auth = await startGrpcPeer((call) =>
      call.stream.on('end', () => {
        const denial = { code: 7, status: 401, body: 'no', headers: { 'x-why': 'because' } };
        const pass = { headers: { 'x-user': 'alice' }, removes: ['x-secret'] };
        const answer = pathOf(call) === '/deny' ? denial : pass;
        answerCall(call, framed(checkResponse(answer)));
      }),
    );
    await using running = await startWith(
      { ...GRPC, with_request_body: { max_request_bytes: 4, allow_partial_message: true } },
      grpcCluster('auth', auth.port),
    );
    const headers = { 'x-secret': 's', 'x-user': 'mallory', authorization: 'Bearer planted-token' };
    const body = 'longer than four';
    const passed = await running.ask('/pass', { method: 'POST', headers, body });
    assert.equal(passed.status, 200);
    const [seen] = running.upstream.requests;
    assert.deepEqual([seen?.headers['x-user'], seen?.headers['x-secret']], ['alice', undefined]);
    assert.equal(seen?.body, body);
    assert.deepEqual(textsAt(auth.calls[0]?.body() ?? Buffer.alloc(0), [1, 4, 2, 11]), ['long']);
    const denied = await running.ask('/deny');
    assert.deepEqual([denied.status, denied.body, denied.headers['x-why']], [401, 'no', 'because']);
    assert.equal((await running.ask('/off')).status, 200);
    assert.equal(auth.calls.length, 2);
    assert.equal(running.upstream.requests.length, 2);
    assert.equal(await running.sluice.stat('http.web.ext_authz.denied'), 1);
    assert.equal(await running.sluice.stat('cluster.up.ext_authz.ok'), 1);
    assert.ok(!running.sluice.stderr().includes('planted-token'), 'no token in the log');
  });

  it('asks again as the policy of the service says, with the whole request', async () => {
    await using auth = await startGrpcPeer((call) =>
      call.stream.on('end', () => {
        const asksFirst = auth.calls.filter((other) => pathOf(other) === pathOf(call)).length === 1;
        if (asksFirst) call.stream.respond({ ':status': 503 }, { endStream: true });
        else answerCall(call, framed(checkResponse({})));
      }),
    );
    const asked = async (retry_policy: object): Promise<readonly [number, number]> => {
      const grpc_service = { ...GRPC.grpc_service, retry_policy };
      await using running = await startWith({ grpc_service }, grpcCluster('auth', auth.port));
      const before = auth.calls.length;
      const { status } = await running.ask(`/${before}`);
      return [status, auth.calls.length - before];
    };
    assert.deepEqual(await asked({ retry_on: '5xx', num_retries: 2 }), [200, 2]);
    assert.deepEqual(await asked({ num_retries: 2 }), [403, 1], 'without retry_on');
  });

  it('lets nothing pass that the service has not allowed, however it breaks', async () => {
    const breaks = new Map<string, (call: SeenCall) => void>([
      ['/silent', () => undefined],
      ['/reset', ({ stream }) => stream.destroy()],
      ['/http', ({ stream }) => (stream.respond({ ':status': 500 }), stream.end())],
      ['/no-grpc', ({ stream }) => (stream.respond({ ':status': 200 }), stream.end('OK'))],
      ['/nothing', (call) => answerCall(call, Buffer.alloc(0))],
      ['/garbage', (call) => answerCall(call, framed(Buffer.from([0xff, 0xff])))],
      ['/status', (call) => answerCall(call, framed(checkResponse({})), { 'grpc-status': '13' })],
      ['/half', (call) => answerCall(call, framed(checkResponse({ body: 'x' })).subarray(0, 6))],
      [
        '/half-way',
        ({ stream }) => {
          stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
          stream.write(framed(checkResponse({})).subarray(0, 4));
        },
      ],
      ['/huge', ({ stream }) => pour(stream)],
    ]);
    await using auth = await startGrpcPeer((call) =>
      call.stream.on('end', () => breaks.get(pathOf(call))?.(call)),
    );
    await using running = await startWith(GRPC, grpcCluster('auth', auth.port));
    await Promise.all(
      [...breaks.keys()].map(async (path) => {
        assert.equal((await running.ask(path)).status, 403, path);
      }),
    );
    assert.equal(running.upstream.requests.length, 0);
    assert.equal(await running.sluice.stat('http.web.ext_authz.error'), breaks.size);
    assert.equal(await running.sluice.stat('cluster.auth.upstream_rq_active'), 0);
  });
});

/** A message that says it has a gigabyte, for as long as anybody reads. */
function pour(stream: SeenCall['stream']): void {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(2 ** 30, 1);
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  const piece = Buffer.alloc(1024 * 1024);
  const more = (): void => {
    while (!stream.destroyed && stream.write(piece));
  };
  stream.on('drain', more);
  stream.write(head);
  more();
}

describe('ext_authz over HTTP', () => {
  const HTTP = {
    http_service: { server_uri: { uri: 'http://auth', cluster: 'auth', timeout: '0.3s' } },
  };

  it('allows by 200 alone, and answers with what the service says', async () => {
    await using auth = await startHttpUpstream((request, response) => {
      if (request.url === '/silent') return;
      if (request.url === '/huge') return void response.end(Buffer.alloc(6 * 1024 * 1024));
      response.writeHead(Number(request.url?.slice(1)), { 'x-from': 'auth' }).end('said');
    });
    await using running = await startWith(HTTP, staticCluster('auth', [auth.port]));
    for (const [path, status] of [
      ['/200', 200],
      ['/201', 201],
      ['/401', 401],
      ['/500', 403],
      ['/silent', 403],
      ['/huge', 403],
    ] as const) {
      assert.equal((await running.ask(path)).status, status, path);
    }
    assert.equal(running.upstream.requests.length, 1);
    assert.equal(auth.requests[0]?.headers['x-envoy-internal'], 'true');
    assert.equal(auth.requests[0]?.headers['x-forwarded-for'], undefined);
  });

  it('refuses bodies beyond its limit, and lets pass by its failure mode', async () => {
    const open = { ...HTTP, failure_mode_allow: true, failure_mode_allow_header_add: true };
    await using running = await startWith(
      { ...open, with_request_body: { max_request_bytes: 8 } },
      staticCluster('auth', [CLOSED_PORT]),
    );
    const ask = async (body: string): Promise<number> =>
      (await running.ask('/', { method: 'POST', body })).status;
    assert.equal(await ask('123456789'), 413);
    assert.equal(await ask('12345678'), 200);
    const [seen] = running.upstream.requests;
    assert.equal(seen?.body, '12345678');
    assert.equal(seen.headers['x-envoy-auth-failure-mode-allowed'], 'true');
    assert.equal(running.upstream.requests.length, 1);
  });
});
