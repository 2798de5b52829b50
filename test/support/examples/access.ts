/** What the examples promise that let requests pass or refuse them, and that of front proxies. */
import assert from 'node:assert/strict';
import { checkResponse } from '../peers/services/asked-services.ts';
import { answerCall, framed, startGrpcPeer } from '../peers/services/grpc-peer.ts';
import { startHttpUpstream } from '../peers/upstream.ts';
import { startEcho, startExample, startService, type AskExample } from './stage.ts';

const STRANGER = { origin: 'http://example.com' };

/** Asks a proxy in front of `upstream-service` with and without a token. */
async function askWithTokens(path: string, hosts: Readonly<Record<string, number>>): Promise<void> {
  await using service = await startEcho('upstream');
  await using example = await startExample(path, {
    hosts: { 'upstream-service:8080': service.port, ...hosts },
  });
  assert.equal((await example.ask(0, '/service')).status, 403);
  const headers = { authorization: 'Bearer token1' };
  const passed = await example.ask(0, { path: '/service', headers });
  assert.equal(passed.status, 200);
  assert.match(passed.body, /"x-current-user":"user1"/);
}

export const ACCESS: Readonly<Record<string, AskExample>> = {
  cors: async () => {
    await using echo = await startEcho('cors');
    await using back = await startExample('cors/backend/envoy.yaml', {
      hosts: { 'backend-service:8080': echo.port },
    });
    const allowed = async (path: string, origin = STRANGER.origin): Promise<unknown> => {
      const { headers, status } = await back.ask(0, { path, headers: { origin } });
      return `${status} ${String(headers['access-control-allow-origin'])}`;
    };
    assert.equal(await allowed('/cors/disabled'), '200 undefined');
    assert.equal(await allowed('/cors/open'), '200 http://example.com');
    assert.equal(await allowed('/cors/restricted'), '200 undefined');
    const ours = 'http://foo.envoyproxy.io';
    assert.equal(await allowed('/cors/restricted', ours), `200 ${ours}`);
    assert.match(await back.sluice.stats('filter=ingress_http'), /ingress_http\.cors\./);
    await using front = await startExample('cors/frontend/envoy.yaml', {
      hosts: { 'frontend-service:8080': echo.port },
    });
    assert.equal((await front.ask(0, '/')).status, 200);
  },
  csrf: async () => {
    await using echo = await startEcho('csrf');
    const hosts = { 'service:8080': echo.port };
    await using same = await startExample('csrf/samesite/envoy.yaml', { hosts });
    const post = async (name: string): Promise<string> => {
      const path = `/csrf/${name}`;
      const answer = await same.ask(0, { path, method: 'POST', headers: STRANGER });
      return `${answer.status} ${String(answer.headers['access-control-allow-origin'])}`;
    };
    for (const name of ['disabled', 'shadow', 'additional_origin']) {
      assert.equal(await post(name), '200 http://example.com', name);
    }
    const refused = await same.ask(0, { path: '/csrf/enabled', method: 'POST', headers: STRANGER });
    assert.deepEqual([refused.status, refused.body], [403, 'Invalid origin']);
    assert.match(await same.sluice.stats('filter=ingress_http'), /ingress_http\.csrf\./);
    await using cross = await startExample('csrf/crosssite/envoy.yaml', { hosts });
    assert.equal((await cross.ask(0, '/')).status, 200);
  },
  rbac: async () => {
    await using backend = await startEcho('backend');
    await using example = await startExample('rbac/envoy.yaml', {
      hosts: { 'backend:8080': backend.port },
    });
    const { status, body } = await example.ask(0, '/');
    assert.deepEqual([status, body], [403, 'RBAC: access denied']);
    const headers = { referer: 'https://www.envoyproxy.io/docs/envoy' };
    assert.equal((await example.ask(0, { headers })).status, 200);
    assert.match(await example.sluice.stats('filter=rbac'), /rbac\.denied: 1/);
  },
  'ext_authz, a gRPC service': async () => {
    await using service = await startGrpcPeer((call) => {
      call.stream.on('end', () => {
        const isKnown = call.body().includes('Bearer token1');
        const headers = { 'x-current-user': 'user1' };
        answerCall(call, framed(checkResponse(isKnown ? { headers } : { code: 7 })));
      });
    });
    await askWithTokens('ext_authz/config/grpc-service/v3.yaml', {
      'ext_authz-grpc-service:9001': service.port,
    });
  },
  'ext_authz, an HTTP service': async () => {
    await using service = await startHttpUpstream((request, response) => {
      const isKnown = request.headers.authorization === 'Bearer token1';
      response.writeHead(isKnown ? 200 : 403, { 'x-current-user': 'user1' }).end();
    });
    await askWithTokens('ext_authz/config/http-service.yaml', {
      'ext_authz-http-service:9002': service.port,
    });
  },
  'ext_authz, an agent for policies': async () => {
    await using echo = await startEcho('upstream');
    await using service = await startGrpcPeer((call) => {
      call.stream.on('end', () => {
        answerCall(call, framed(checkResponse(call.body().includes('POST') ? { code: 7 } : {})));
      });
    });
    await using example = await startExample('ext_authz/config/opa-service/v3.yaml', {
      hosts: {
        'upstream-service:8080': echo.port,
        'ext_authz-opa-service:9002': service.port,
      },
    });
    assert.equal((await example.ask(0, '/service')).status, 200);
    assert.equal((await example.ask(0, { path: '/service', method: 'POST' })).status, 403);
  },
  'front-proxy': async () => {
    await using one = await startService(1);
    await using two = await startService(2);
    await using sideOne = await startExample('front-proxy/service-envoy.yaml', {
      hosts: { 'service1:8080': one.port },
    });
    await using sideTwo = await startExample('front-proxy/service-envoy-2.yaml', {
      hosts: { 'service2:8080': two.port },
    });
    await using front = await startExample('front-proxy/envoy.yaml', {
      hosts: {
        'service-envoy-1:8000': await sideOne.port(0),
        'service-envoy-2:8000': await sideTwo.port(0),
      },
    });
    for (const number of [1, 2]) {
      const says = `Hello from behind Envoy (service ${number})!\n`;
      assert.equal((await front.ask(0, `/service/${number}`)).body, says);
      assert.equal((await front.askSecurely(1, `/service/${number}`)).body, says);
    }
    assert.equal((await front.ask(0, '/other')).status, 404);
  },
};
