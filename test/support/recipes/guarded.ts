/** What the recipes with TLS, credentials, limits and other protocols promise. */
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import type http2 from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { httpListener, staticCluster } from '../parts/bootstrap.ts';
import { makeAuthority } from '../parts/certificates.ts';
import { askSecurely } from '../parts/tls.ts';
import { bearer, jwks, makeSigner } from '../parts/tokens.ts';
import { startControlPlane } from '../peers/control-plane.ts';
import { resource } from '../peers/discovery-files.ts';
import { fetchOnce } from '../peers/http-client.ts';
import { openHttp2 } from '../peers/http2-client.ts';
import { startHttp2Upstream } from '../peers/http2.ts';
import { startHttpUpstream } from '../peers/upstream.ts';
import { makeScratch } from '../scratch.ts';
import { waitUntil } from '../wait.ts';
import { startApp, startRecipe, type AskRecipe } from './stage.ts';

export const GUARDED: Readonly<Record<string, AskRecipe>> = {
  tls: async () => {
    using scratch = makeScratch();
    makeAuthority(scratch.path).issue('cert', 'DNS:localhost');
    renameSync(scratch.file('cert.key'), scratch.file('key.pem'));
    await using app = await startApp('app');
    await using sluice = await startRecipe('tls', { 3000: app.port }, { scratch });
    const port = await sluice.listenerPort('secure');
    assert.match((await askSecurely(port)).text, /app \/$/);
    await using client = await openHttp2(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
    });
    assert.equal((await client.ask({ ':path': '/two' })).body, 'app /two');
    const plain = await sluice.listenerPort('plain');
    const sent = await fetchOnce({ port: plain, path: '/a', headers: { host: 'h:8080' } });
    assert.equal(`${sent.status} ${sent.headers['location']}`, '301 https://h:8443/a');
  },
  edge: async () => {
    using scratch = makeScratch();
    makeAuthority(scratch.path).issue('cert', 'DNS:localhost');
    renameSync(scratch.file('cert.key'), scratch.file('key.pem'));
    const text = 'many words '.repeat(50);
    await using app = await startHttpUpstream((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(text);
    });
    await using api = await startApp('api');
    const hosts = { 3000: app.port, 3001: api.port, 3002: app.port };
    await using sluice = await startRecipe('edge', hosts, { scratch });
    const port = await sluice.listenerPort('secure');
    await using client = await openHttp2(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
    });
    const origin = 'https://app.example.com';
    const page = await client.ask({ ':path': '/', origin, 'accept-encoding': 'gzip' });
    assert.equal(gunzipSync(Buffer.from(page.body, 'latin1')).toString(), text);
    assert.equal(page.headers['access-control-allow-origin'], origin);
    assert.equal((await client.ask({ ':path': '/api/users' })).body, 'api /users');
    const authorization = `Basic ${Buffer.from('ann:secret').toString('base64')}`;
    assert.equal((await client.ask({ ':path': '/admin/' })).status, 401);
    assert.equal((await client.ask({ ':path': '/admin/', authorization })).status, 200);
    await app.close();
    assert.match((await client.ask({ ':path': '/' })).body, /<h1>Back soon</);
    await waitUntil('the log', () => /"path":"\/api\/users".*"status":200/.test(sluice.stdout()));
    const many = await Promise.all(
      Array.from({ length: 60 }, async () => (await client.ask({ ':path': '/api/' })).status),
    );
    assert.ok(many.includes(429), String(many));
    const plain = await sluice.listenerPort('plain');
    const sent = await fetchOnce({ port: plain, path: '/a', headers: { host: 'h:8080' } });
    assert.equal(`${sent.status} ${sent.headers['location']}`, '301 https://h:8443/a');
  },
  mtls: async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    authority.issue('cert', 'DNS:localhost');
    renameSync(scratch.file('cert.key'), scratch.file('key.pem'));
    const known = authority.issue('client', 'DNS:one.clients.example.com');
    const stranger = authority.issue('stranger', 'DNS:example.org');
    await using app = await startApp('app', 'x-forwarded-client-cert');
    await using sluice = await startRecipe('mtls', { 3000: app.port }, { scratch });
    const port = await sluice.listenerPort('secure');
    const { cert, key } = known;
    const forged = 'host: h\r\nx-forwarded-client-cert: Subject="CN=root"';
    const { text } = await askSecurely(port, { cert, key }, '/', forged);
    assert.match(text, /app \/ Hash=[0-9a-f]{64};Subject="CN=client";DNS=one\.clients/);
    assert.equal((await askSecurely(port)).text, '');
    assert.equal((await askSecurely(port, { cert: stranger.cert, key: stranger.key })).text, '');
  },
  sni: async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const { cert, key } = authority.issue('host', 'DNS:app.example.com');
    const tls = { cert, key, allowHTTP1: true };
    await using app = await startHttp2Upstream((stream) => stream.end(), { tls });
    await using sluice = await startRecipe('sni', { 3000: app.port }, { scratch });
    const port = await sluice.listenerPort('names');
    const known = await askSecurely(port, { servername: 'app.example.com' });
    assert.equal(known.name, 'host');
    assert.match(known.text, /over 1\.1/);
    assert.equal((await askSecurely(port, { servername: 'example.org' })).text, '');
  },
  'basic-auth': async () => {
    await using app = await startApp('app');
    await using sluice = await startRecipe('basic-auth', { 3000: app.port });
    const port = await sluice.listenerPort('web');
    const ask = async (path: string, password?: string): Promise<number> => {
      const token = Buffer.from(`ann:${password}`).toString('base64');
      const headers = password === undefined ? {} : { authorization: `Basic ${token}` };
      return (await fetchOnce({ port, path, headers })).status;
    };
    assert.equal(await ask('/'), 200);
    assert.equal(await ask('/admin/'), 401);
    assert.equal(await ask('/open/../admin/'), 401);
    assert.equal(await ask('/admin/', 'guess'), 401);
    assert.equal(await ask('/admin/', 'secret'), 200);
  },
  'rate-limit': async () => {
    await using app = await startApp('app');
    await using sluice = await startRecipe('rate-limit', { 3000: app.port });
    const port = await sluice.listenerPort('web');
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await fetchOnce({ port })).status),
    );
    const taken = statuses.filter((status) => status === 200).length;
    assert.ok(taken >= 10 && taken < 30, `${taken} of 30 passed`);
    assert.ok(statuses.includes(429));
  },
  jwt: async () => {
    using scratch = makeScratch();
    const signer = makeSigner('ES256');
    writeFileSync(scratch.file('jwks.json'), jwks([signer]));
    await using app = await startApp('app', 'x-user');
    await using sluice = await startRecipe('jwt', { 3000: app.port }, { scratch });
    const port = await sluice.listenerPort('web');
    const claims = { iss: 'https://login.example.com/', aud: 'app', sub: 'ann' };
    const ask = async (path: string, headers = {}): Promise<string> => {
      const { status, body } = await fetchOnce({ port, path, headers });
      return `${status} ${body}`;
    };
    assert.equal(await ask('/', bearer(signer.sign(claims))), '200 app / ann');
    assert.match(await ask('/', { 'x-user': 'root' }), /^401 /);
    assert.match(await ask('/', bearer(signer.sign({ ...claims, aud: 'other' }))), /^403 /);
    assert.match(await ask('/public/page'), /^200 app \/public\/page /);
  },
  grpc: async () => {
    await using app = await startHttp2Upstream((stream, headers) => {
      const isCall = headers['content-type'] === 'application/grpc';
      stream.respond(answerFields(isCall), { waitForTrailers: isCall });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end('answer');
    });
    await using sluice = await startRecipe('grpc', { 3000: app.port });
    const port = await sluice.listenerPort('web');
    await using client = await openHttp2(port);
    const call = {
      ':method': 'POST',
      ':path': '/s.S/M',
      'content-type': 'application/grpc',
      te: 'trailers',
    };
    const answer = await client.ask(call, Buffer.alloc(5));
    assert.equal(answer.trailers['grpc-status'], '0');
    assert.equal((await fetchOnce({ port })).body, 'answer');
  },
  'control-plane': async () => {
    await using app = await startApp('app');
    await using control = await startControlPlane();
    control.set('cluster.v3.Cluster', '1', [resource.cluster(staticCluster('up', [app.port]))]);
    const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
    control.set('listener.v3.Listener', '1', [resource.listener(httpListener(routes))]);
    await using sluice = await startRecipe('control-plane', { 18_000: control.port });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port })).body, 'app /');
  },
};

function answerFields(isCall: boolean): http2.OutgoingHttpHeaders {
  return { ':status': 200, 'content-type': isCall ? 'application/grpc' : 'text/plain' };
}
