/** What the examples promise whose resources come later: from files, control planes and checks. */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { LoadStatsRequest } from '../../../shared/api/generated/envoy/service/load_stats/v3/lrs.ts';
import { startControlPlane } from '../peers/control-plane.ts';
import type { Answer } from '../peers/http-client.ts';
import { startGrpcPeer } from '../peers/services/grpc-peer.ts';
import { messagesOf, wireMessage } from '../peers/services/messages.ts';
import { startHttpUpstream, type HttpUpstream } from '../peers/upstream.ts';
import { runSluice } from '../programs/sluice.ts';
import { makeScratch, type Scratch } from '../scratch.ts';
import { waitUntil } from '../wait.ts';
import { EXAMPLES, placed, startEcho, startExample, type AskExample } from './stage.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const REFUSED = ['golang-http', 'golang-network', 'kafka', 'kafka-mesh', 'mysql', 'postgres'];

/** A file of an example with addresses of a test, put where a server watches it. */
function writePlaced(scratch: Scratch, name: string, from: string, port: number): string {
  const text = readFileSync(join(EXAMPLES, from), 'utf8');
  const path = scratch.file(name);
  writeFileSync(`${path}.new`, placed(text, { hosts: { 'service1:8080': port } }));
  renameSync(`${path}.new`, path);
  return path;
}

interface HealthHost extends HttpUpstream {
  isHealthy: boolean;
}

async function startHealthHost(name: string): Promise<HealthHost> {
  const upstream = await startHttpUpstream((_request, response) => {
    response.writeHead(host.isHealthy ? 200 : 503).end(name);
  });
  const host: HealthHost = { ...upstream, isHealthy: true };
  return host;
}

/** The page of an account: who asks is known by the token. */
async function startHub(): Promise<HttpUpstream> {
  return await startHttpUpstream((request, response) => {
    const { authorization = 'nobody' } = request.headers;
    response.setHeader('content-type', 'application/json');
    if (request.url !== '/authenticate')
      return void response.end(JSON.stringify({ authorization }));
    response.end(JSON.stringify({ access_token: 'the-token', token_type: 'bearer' }));
  });
}

type Seen = Pick<Answer, 'status' | 'headers' | 'body'>;

const pairOf = (cookie: string): string => cookie.split(';')[0] ?? '';

export const PLANES: Readonly<Record<string, AskExample>> = {
  'dynamic-config-fs': async () => {
    using scratch = makeScratch();
    await using one = await startEcho('service1');
    await using two = await startEcho('service2');
    const cds = (port: number): string =>
      writePlaced(scratch, 'cds.yaml', 'dynamic-config-fs/configs/cds.yaml', port);
    const values = {
      '/var/lib/envoy/cds.yaml': cds(one.port),
      '/var/lib/envoy/lds.yaml': writePlaced(
        scratch,
        'lds.yaml',
        'dynamic-config-fs/configs/lds.yaml',
        one.port,
      ),
    };
    await using example = await startExample('dynamic-config-fs/envoy.yaml', { values });
    const answer = async (): Promise<string> => (await example.askNamed('listener_0', '/')).body;
    assert.match(await answer(), /"hostname":"service1"/);
    cds(two.port);
    await waitUntil('the other service', async () => /service2/.test(await answer()));
    const dump = await example.sluice.admin('/config_dump?resource=dynamic_active_clusters');
    assert.match(dump.body, new RegExp(`"port_value": ${two.port}`));
  },
  'dynamic-config-cp': async () => {
    await using one = await startEcho('service1');
    await using two = await startEcho('service2');
    await using plane = await startControlPlane();
    const read = (name: string): string =>
      readFileSync(join(EXAMPLES, 'dynamic-config-fs', 'configs', name), 'utf8');
    const publish = (version: string, port: number): void => {
      const hosts = { 'service1:8080': port };
      for (const [kind, file] of [
        ['cluster.v3.Cluster', 'cds.yaml'],
        ['listener.v3.Listener', 'lds.yaml'],
      ] as const) {
        const text = placed(read(file), { hosts });
        // Texts may have one member in place of a list, messages may not.
        const { resources } = parse(text, (key: unknown, value: unknown) =>
          key === 'filters' ? [value].flat() : value,
        ) as { readonly resources: readonly object[] };
        plane.set(kind, version, resources);
      }
    };
    publish('1', one.port);
    await using example = await startExample('dynamic-config-cp/envoy.yaml', {
      hosts: { 'go-control-plane:18000': plane.port },
    });
    const answer = async (): Promise<string> => (await example.askNamed('listener_0', '/')).body;
    assert.match(await answer(), /"hostname":"service1"/);
    assert.equal(plane.requests[0]?.node?.id, 'test-id');
    const dump = async (): Promise<string> =>
      (await example.sluice.admin('/config_dump?resource=dynamic_active_clusters')).body;
    assert.match(await dump(), /"version_info": "1"/);
    plane.drop();
    assert.match(await answer(), /"hostname":"service1"/);
    publish('2', two.port);
    await waitUntil('the other service', async () => /service2/.test(await answer()));
    assert.match(await dump(), /"version_info": "2"/);
  },
  'load-reporting-service': async () => {
    const type = 'envoy.service.load_stats.v3';
    const wanted = { clusters: ['local_service'], load_reporting_interval: '0.1s' };
    await using service = await startGrpcPeer(({ stream }) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.write(wireMessage(`${type}.LoadStatsResponse`, wanted));
    });
    await using backend = await startEcho('http_service');
    await using example = await startExample('load-reporting-service/envoy.yaml', {
      hosts: { 'http_service:8080': backend.port, 'lrs_server:18000': service.port },
    });
    for (let count = 0; count < 10; count++) {
      assert.equal((await example.ask(0, '/service/load')).status, 200);
    }
    const issued = (): number =>
      messagesOf<LoadStatsRequest>(service.calls[0], `${type}.LoadStatsRequest`)
        .flatMap(({ cluster_stats: clusters = [] }) => clusters)
        .flatMap(({ upstream_locality_stats: localities = [] }) => localities)
        .reduce((sum, { total_issued_requests: count = 0 }) => sum + Number(count), 0);
    await waitUntil('all requests', () => issued() === 10);
  },
  'locality-load-balancing': async () => {
    await using local = await startHealthHost('local-1');
    await using second = await startHealthHost('local-2');
    await using remote = await startHealthHost('remote-1');
    await using last = await startHealthHost('remote-2');
    await using example = await startExample('locality-load-balancing/envoy.yaml', {
      hosts: {
        'backend-local-1:8080': local.port,
        'backend-local-2:8080': second.port,
        'backend-remote-1:8080': remote.port,
        'backend-remote-2:8080': last.port,
      },
    });
    const answers = async (): Promise<readonly string[]> => {
      const names = new Set<string>();
      for (let count = 0; count < 60; count++) names.add((await example.ask(0, '/')).body);
      return [...names].sort();
    };
    assert.deepEqual(await answers(), ['local-1']);
    local.isHealthy = false;
    second.isHealthy = false;
    await waitUntil('the others', async () => String(await answers()) === 'remote-1,remote-2');
  },
  'single-page-app': async () => {
    using scratch = makeScratch();
    await using hub = await startHub();
    await using ui = await startEcho('ui');
    const secret = { '@type': `${TYPE}.transport_sockets.tls.v3.Secret`, name: 'hmac' };
    const inline = { ...secret, generic_secret: { secret: { inline_string: 'asdf' } } };
    writeFileSync(scratch.file('hmac.json'), JSON.stringify({ resources: [inline] }));
    writeFileSync(scratch.file('lds.yml'), 'resources: []\n');
    const secrets = '/etc/envoy/secrets';
    const token = join(EXAMPLES, 'single-page-app', 'secrets', 'myhub-token-secret.yml');
    await using example = await startExample('single-page-app/envoy.yml', {
      hosts: {
        'ui:3000': ui.port,
        '127.0.0.1:10002': ui.port,
        'myhub:7000': hub.port,
        'myhub-api:7000': hub.port,
        'other:7000': hub.port,
      },
      values: {
        [`${secrets}/myhub-token-secret.yml`]: token,
        [`${secrets}/hmac-secret.yml`]: scratch.file('hmac.json'),
        '/var/lib/envoy/lds.yml': scratch.file('lds.yml'),
      },
    });
    for (const [listener, scheme] of [
      [0, 'http'],
      [1, 'https'],
    ] as const) {
      const ask = async (path: string, cookies: readonly string[] = []): Promise<Seen> => {
        const headers = { host: 'app', cookie: cookies.map(pairOf).join('; ') };
        if (scheme === 'http') return await example.ask(listener, { path, headers });
        return await example.askSecurely(listener, path, headers);
      };
      assert.match((await ask('/')).body, /"hostname":"ui"/);
      const login = await ask('/login');
      assert.equal(login.status, 302);
      const target = new URL(String(login.headers.location));
      assert.equal(target.origin, 'http://localhost:7000');
      assert.equal(target.searchParams.get('redirect_uri'), `${scheme}://app/authorize`);
      assert.equal(target.searchParams.get('client_id'), '0123456789');
      const state = encodeURIComponent(target.searchParams.get('state') ?? '');
      const back = await ask(`/authorize?code=c&state=${state}`, login.headers['set-cookie']);
      assert.equal(back.status, 302, back.body);
      assert.equal(back.headers.location, `${scheme}://app/login`);
      const user = await ask('/hub/user', back.headers['set-cookie']);
      assert.deepEqual(JSON.parse(user.body), { authorization: 'Bearer the-token' });
      const out = await ask('/logout', back.headers['set-cookie']);
      assert.match(String(out.headers['set-cookie']), /BearerToken=deleted/);
    }
  },
  'what asks for plugins and protocols that Envoy has in its other build': async () => {
    const files = REFUSED.map((folder) => join(EXAMPLES, folder, 'envoy.yaml'));
    const { stdout, code } = await runSluice(['check', ...files]);
    assert.equal(code, 1);
    // Sluice has no runtime for WebAssembly, which Envoy has.
    const wasm = await runSluice(['check', join(EXAMPLES, 'wasm-cc', 'envoy.yaml')]);
    assert.match(wasm.stdout, /^unsupported .*[\s\S]*no runtime for WebAssembly filters/);
    for (const file of files) assert.ok(stdout.includes(`invalid      ${file}\n`), file);
    assert.equal(stdout.split("it belongs to Envoy's contrib builds").length, 8);
  },
};
