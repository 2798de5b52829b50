/** Hosts that say over streams of their own how busy they are (ORCA out of band). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const POLICY = 'load_balancing_policies.client_side_weighted_round_robin.v3';
const PATH = '/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics';
const REQUESTS = 60;

interface Host extends AsyncDisposable {
  readonly port: number;
  /** The streams of reports: their authorities, and what they asked for. */
  readonly asked: string[];
  /** Ends the open streams. */
  drop(): void;
}

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** A hundred requests a second, and so much of the application is in use. */
function report(utilization: number): Buffer {
  const message = Buffer.alloc(18);
  message[0] = (9 << 3) | 1;
  message.writeDoubleLE(utilization, 1);
  message[9] = (6 << 3) | 1;
  message.writeDoubleLE(100, 10);
  return framed(message);
}

async function startHost(name: string, answers: readonly Buffer[]): Promise<Host> {
  const asked: string[] = [];
  const open = new Set<http2.ServerHttp2Stream>();
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = http2.createServer();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    if (headers[':path'] !== PATH) {
      stream.end(name);
      return;
    }
    open.add(stream);
    stream.on('data', (data: Buffer) =>
      asked.push(`${headers[':authority'] ?? ''} ${data.toString('hex')}`),
    );
    for (const answer of answers) stream.write(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked,
    drop: () => {
      for (const stream of open) stream.close();
      open.clear();
    },
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

/** A bootstrap with these hosts behind one listener. */
function balanced(ports: readonly number[], settings: object): object {
  const policy = {
    '@type': `${TYPE}.${POLICY}.ClientSideWeightedRoundRobin`,
    enable_oob_load_report: true,
    blackout_period: '0s',
    weight_update_period: '0.1s',
    ...settings,
  };
  const name = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  const fields = {
    typed_extension_protocol_options: {
      [name]: {
        '@type': `type.googleapis.com/${name}`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
    load_balancing_policy: {
      policies: [{ typed_extension_config: { name: 'weighted', typed_config: policy } }],
    },
  };
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  return bootstrap({
    listeners: [httpListener(routes)],
    clusters: [staticCluster('up', ports, fields)],
  });
}

const stat = (name: string): string => `cluster.up.lb_orca_oob.${name}`;

describe('reports of load over streams', () => {
  it('decide how much each host gets, and are asked for again when they end', async () => {
    const good = report(0.1);
    // In two pieces.
    await using idle = await startHost('idle', [good.subarray(0, 7), good.subarray(7)]);
    await using busy = await startHost('busy', [report(0.9)]);
    const settings = { oob_reporting_period: '1.5s' };
    await using sluice = await startSluice({
      bootstrap: balanced([idle.port, busy.port], settings),
    });
    await sluice.waitForStat(stat('reports_received'), (count) => count >= 2);
    assert.equal(await sluice.stat(stat('active_sessions')), 2);
    // A period of 1 s and 500,000,000 ns.
    assert.deepEqual(idle.asked, [`127.0.0.1:${idle.port} 000000000a0a0808011080cab5ee01`]);
    const port = await sluice.listenerPort('web');
    await waitUntil('weights', async () => {
      const answers: string[] = [];
      for (let each = 0; each < REQUESTS; each++) answers.push((await fetchOnce({ port })).body);
      const share = answers.filter((answer) => answer === 'idle').length / REQUESTS;
      return share > 0.8 && share < 1;
    });
    busy.drop();
    await sluice.waitForStat(stat('stream_terminated'), (count) => count === 1);
    await waitUntil('another stream', () => busy.asked.length === 2);
  });

  it('that are no messages are counted, and break nothing', async () => {
    const wrong = [framed(Buffer.from('ff', 'hex')), Buffer.from('01ffffffff', 'hex')];
    await using host = await startHost('host', wrong);
    const settings = { oob_reporting_config: { authority: 'me' } };
    await using sluice = await startSluice({ bootstrap: balanced([host.port], settings) });
    await sluice.waitForStat(stat('report_errors'), (count) => count >= 2);
    await sluice.waitForStat(stat('stream_failures'), (count) => count >= 1);
    assert.match(host.asked[0] ?? '', /^me /);
    assert.equal((await fetchOnce({ port: await sluice.listenerPort('web') })).body, 'host');
  });
});
