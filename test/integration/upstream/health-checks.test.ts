import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { tlsSocket } from '../../support/parts/tls.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const ROUTES = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
const QUICK = {
  timeout: '5s',
  interval: '0.05s',
  no_traffic_interval: '0.05s',
  unhealthy_threshold: 2,
  healthy_threshold: 2,
};
const RAW = {
  name: 'raw',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer',
  },
};
const NO_PANIC = { common_lb_config: { healthy_panic_threshold: { value: 0 } } };
const overHttp = { ...QUICK, http_health_check: { path: '/hc', host: 'hc.test' } };

async function waitForFlags(sluice: Sluice, port: number, flags: string): Promise<void> {
  await waitUntil(`flags ${flags} of ${port}`, async () => {
    const { body } = await sluice.admin('/clusters');
    return body.includes(`127.0.0.1:${port}::health_flags::${flags}\n`);
  });
  await sluice.settled();
}

describe('active health checks', () => {
  it('keep requests from hosts that fail, and let them back', async () => {
    let status = 200;
    const seen = { host: '', agent: '' };
    await using checked = await startHttpUpstream((request, response) => {
      if (request.url === '/hc') {
        seen.host = request.headers.host ?? '';
        seen.agent = request.headers['user-agent'] ?? '';
        response.statusCode = status;
      }
      response.end('checked');
    });
    await using other = await startHttpUpstream((_, response) => response.end('other'));
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES)],
        clusters: [
          staticCluster('up', [checked.port, other.port], {
            health_checks: [overHttp],
            ...NO_PANIC,
          }),
        ],
      }),
    });
    const port = await sluice.listenerPort('web');
    assert.equal(await sluice.stat('cluster.up.membership_healthy'), 2);
    assert.deepEqual(seen, { host: 'hc.test', agent: 'Envoy/HC' });
    status = 503;
    await waitForFlags(sluice, checked.port, '/failed_active_hc');
    const asked = Array.from({ length: 6 }, () => fetchOnce({ port, path: '/' }));
    for (const { body } of await Promise.all(asked)) assert.equal(body, 'other');
    assert.equal(await sluice.stat('cluster.up.health_check.healthy'), 1);
    status = 200;
    await waitForFlags(sluice, checked.port, 'healthy');
    assert.equal(await sluice.stat('cluster.up.membership_healthy'), 2);
    assert.ok((await sluice.stat('cluster.up.health_check.failure')) > 0);
    assert.equal(await sluice.stat('cluster.up.health_check.network_failure'), 0);
  });

  it('go on in another worker when theirs dies', async () => {
    let status = 200;
    await using checked = await startHttpUpstream((_, response) => {
      response.statusCode = status;
      response.end();
    });
    const ports = [checked.port];
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES)],
        clusters: [staticCluster('up', ports, { health_checks: [overHttp], ...NO_PANIC })],
      }),
    });
    for (const pid of workersOf(sluice.pid)) {
      process.kill(pid, 'SIGKILL');
      status = status === 200 ? 503 : 200;
      await waitForFlags(sluice, checked.port, status === 200 ? 'healthy' : '/failed_active_hc');
    }
  });

  it('hold the server back until every host was checked once, with or without success', async () => {
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES)],
        clusters: [staticCluster('up', [1], { health_checks: [overHttp], ...NO_PANIC })],
      }),
    });
    // A read of statistics does not wait for a worker that is busy.
    for (const name of ['attempt', 'network_failure']) {
      await sluice.waitForStat(`cluster.up.health_check.${name}`, (value) => value > 0);
    }
    await waitForFlags(sluice, 1, '/failed_active_hc');
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/' })).status, 503);
  });

  it('compare what comes back over TCP', async () => {
    let answer = 'PONG';
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => void socket.write(`${data.toString()}${answer}`));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const hex = (text: string): { text: string } => ({ text: Buffer.from(text).toString('hex') });
    const check = {
      ...QUICK,
      timeout: '0.2s',
      tcp_health_check: { send: hex('PING'), receive: [hex('NG'), hex('PONG')] },
    };
    await using sluice = await startSluice({
      bootstrap: bootstrap({ clusters: [staticCluster('up', [port], { health_checks: [check] })] }),
    });
    await waitForFlags(sluice, port, 'healthy');
    answer = 'nothing';
    await waitForFlags(sluice, port, '/failed_active_hc/active_hc_timeout');
    server.close();
  });

  it('are failed by an ordinary answer that says so, until they pass again', async () => {
    let isLeaving = false;
    let checks = 0;
    await using leaving = await startHttpUpstream((request, response) => {
      if (request.url === '/hc') {
        checks += 1;
        response.statusCode = isLeaving ? 503 : 200;
      } else if (isLeaving) response.setHeader('x-envoy-immediate-health-check-fail', 'true');
      response.end('leaving');
    });
    const slow = { ...overHttp, interval: '0.3s', no_traffic_interval: '0.3s' };
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES)],
        clusters: [staticCluster('up', [leaving.port], { health_checks: [slow], ...NO_PANIC })],
      }),
    });
    const port = await sluice.listenerPort('web');
    isLeaving = true;
    assert.equal((await fetchOnce({ port, path: '/' })).status, 200);
    await sluice.waitForStat('cluster.up.health_check.passive_failure', (count) => count === 1);
    await waitUntil('no host', async () => (await fetchOnce({ port, path: '/' })).status === 503);
    isLeaving = false;
    const before = checks;
    await waitUntil('the host', async () => (await fetchOnce({ port, path: '/' })).status === 200);
    assert.ok(checks >= before + 2, 'as many checks as the threshold says');
  });

  it('and ejections are told in event logs', async () => {
    let status = 200;
    await using upstream = await startHttpUpstream((request, response) => {
      response.statusCode = request.url === '/hc' ? status : 500;
      response.end();
    });
    using scratch = makeScratch();
    const [checks, ejections] = [scratch.file('checks.log'), scratch.file('ejections.log')];
    const logged = { ...overHttp, unhealthy_threshold: 1, event_log_path: checks };
    await using sluice = await startSluice({
      scratch,
      bootstrap: bootstrap(
        {
          listeners: [httpListener(ROUTES)],
          clusters: [
            staticCluster('up', [upstream.port], {
              health_checks: [logged],
              outlier_detection: {
                consecutive_5xx: 2,
                interval: '0.1s',
                base_ejection_time: '0.1s',
                max_ejection_percent: 100,
              },
            }),
          ],
        },
        { cluster_manager: { outlier_detection: { event_log_path: ejections } } },
      ),
    });
    const port = await sluice.listenerPort('web');
    for (let count = 0; count < 2; count++) await fetchOnce({ port, path: '/' });
    status = 503;
    const linesOf = (path: string): Record<string, unknown>[] =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    await waitUntil('two lines of each', () =>
      existsSync(checks) && existsSync(ejections)
        ? linesOf(checks).length >= 2 && linesOf(ejections).length >= 2
        : undefined,
    );
    const [added, failed] = linesOf(checks);
    assert.equal(added?.['health_checker_type'], 'HTTP');
    assert.deepEqual(added?.['add_healthy_event'], { first_check: true });
    assert.deepEqual(failed?.['eject_unhealthy_event'], {
      failure_type: 'ACTIVE',
      http_status_code: 503,
    });
    assert.deepEqual(
      linesOf(ejections).map(({ action, type, enforced }) => [action, type, enforced]),
      [
        ['EJECT', 'CONSECUTIVE_5XX', true],
        ['UNEJECT', 'CONSECUTIVE_5XX', false],
      ],
    );
  });

  it('use the socket and the protocols of their own, and tell of several by their names', async () => {
    const seen: (string | false | null)[] = [];
    using scratch = makeScratch();
    const { key, cert } = makeAuthority(scratch.path);
    const secure = createTlsServer({ key, cert, ALPNProtocols: ['own', 'other'] }, (socket) => {
      seen.push(socket.alpnProtocol);
      socket.end();
    });
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const { port } = secure.address() as AddressInfo;
    const plain = { name: 'plain', match: { plain: true }, transport_socket: RAW };
    const byTcp = { ...QUICK, tcp_health_check: {} };
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        clusters: [
          staticCluster('up', [port], {
            transport_socket: tlsSocket('Upstream', { common_tls_context: {} }),
            transport_socket_matches: [plain],
            health_checks: [
              { ...byTcp, name: 'secure', tls_options: { alpn_protocols: ['own'] } },
              { ...byTcp, name: 'open', transport_socket_match_criteria: { plain: true } },
            ],
          }),
        ],
      }),
    });
    await waitForFlags(sluice, port, 'healthy');
    assert.ok(seen.length > 0 && seen.every((protocol) => protocol === 'own'));
    const stat = 'cluster.up.health_check';
    assert.equal(await sluice.stat(`${stat}.name.secure.healthy`), 1);
    assert.equal(await sluice.stat(`${stat}.name.open.healthy`), 1);
    assert.equal(await sluice.stat(`${stat}.healthy`), 1);
    secure.close();
  });
});

function workersOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').map(Number);
}
