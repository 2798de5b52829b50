import assert from 'node:assert/strict';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import type { GrpcProbe, HttpProbe } from '../../../../shared/resources/clusters/health-check.ts';
import { CheckRequests } from '../../../../workers/health/check-requests.ts';
import { Http2Probe } from '../../../../workers/health/http2-probe.ts';
import { HttpJudge } from '../../../../workers/health/judge-http.ts';
import type { ProbeOutcome } from '../../../../workers/health/probe.ts';
import { systemClock } from '../../../../shared/process/clock.ts';
import { UpstreamCluster } from '../../../../workers/upstream/cluster.ts';
import { clusterContext } from '../../../support/parts/balancers.ts';
import { cluster, host } from '../../../support/parts/data-plane.ts';
import { TCP_CHECK } from '../../../support/parts/health-checks.ts';

const OVER_HTTP: HttpProbe = {
  kind: 'http',
  isHttp2: true,
  path: '/hc',
  method: 'GET',
  headers: {
    add: [
      {
        name: 'x-check',
        format: '%UPSTREAM_HOST_NAME%',
        appendAction: 'APPEND_IF_EXISTS_OR_ADD',
        keepEmptyValue: false,
      },
    ],
    remove: ['user-agent'],
  },
  expectedStatuses: [{ from: 200, to: 201 }],
  retriableStatuses: [{ from: 503, to: 504 }],
  receiveBytesMax: 1024,
};
const GRPC: GrpcProbe = { kind: 'grpc', service: 'shop', headers: { add: [], remove: [] } };

let server: Http2Server | undefined;
let probe: Http2Probe | undefined;

afterEach(() => {
  probe?.cancel();
  server?.close();
});

type Answer = (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void;

async function startChecking(resource: HttpProbe | GrpcProbe, answer: Answer): Promise<Http2Probe> {
  const started = createServer();
  server = started;
  started.on('stream', (stream, headers) => answer(stream, headers));
  await new Promise<void>((resolve) => {
    started.listen(0, '127.0.0.1', resolve);
  });
  const { port } = started.address() as AddressInfo;
  const target = {
    authority: 'up',
    readyEvent: 'connect',
    open: () => connect({ host: '127.0.0.1', port }),
  } as const;
  const requests = new CheckRequests({ probe: resource, timeoutMs: 400 }, systemClock);
  const asked = host(1, { hostname: 'shop.test' });
  const asking = { ...target, request: () => requests.make(asked, 'http', 'up') };
  const judge = resource.kind === 'http' ? new HttpJudge(resource, () => true) : undefined;
  probe = new Http2Probe(asking, true, judge);
  return probe;
}

function outcomeOf(of: Http2Probe): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    of.run(resolve);
  });
}

/** A HealthCheckResponse with this status, behind its gRPC prefix. */
function answerGrpc(stream: ServerHttp2Stream, status: number, grpcStatus = '0'): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': grpcStatus }));
  stream.end(Buffer.from([0, 0, 0, 0, 2, 8, status]));
}

describe('checks over HTTP/2', () => {
  it('ask as over HTTP/1 and judge by the status, one connection for all', async () => {
    let status = 200;
    const seen: Record<string, unknown>[] = [];
    const checking = await startChecking(OVER_HTTP, (stream, headers) => {
      seen.push(headers);
      stream.respond({ ':status': status }, { endStream: true });
    });
    assert.deepEqual(await outcomeOf(checking), { kind: 'passed', isDegraded: false });
    status = 503;
    const retriable = { kind: 'failed', isRetriable: true, isImmediate: false, status: 503 };
    assert.deepEqual(await outcomeOf(checking), retriable);
    assert.deepEqual(
      seen.map((each) => [each[':path'], each[':authority'], each['user-agent'], each['x-check']]),
      [
        ['/hc', 'up', undefined, 'shop.test'],
        ['/hc', 'up', undefined, 'shop.test'],
      ],
    );
  });

  it('find a host unreachable that breaks the stream', async () => {
    const checking = await startChecking(OVER_HTTP, (stream) => stream.session?.destroy());
    assert.deepEqual(await outcomeOf(checking), { kind: 'unreachable', isTimeout: false });
  });
});

describe('checks of the gRPC health service', () => {
  it('name the service and pass only while it serves', async () => {
    let status = 1;
    const bodies: string[] = [];
    const checking = await startChecking(GRPC, (stream, headers) => {
      assert.equal(headers[':path'], '/grpc.health.v1.Health/Check');
      assert.equal(headers['grpc-timeout'], '400m');
      stream.on('data', (piece: Buffer) => bodies.push(piece.toString('latin1')));
      stream.on('end', () => answerGrpc(stream, status));
    });
    assert.deepEqual(await outcomeOf(checking), { kind: 'passed', isDegraded: false });
    status = 2;
    const failed = { kind: 'failed', isRetriable: false, isImmediate: false, status: 0 };
    assert.deepEqual(await outcomeOf(checking), failed);
    assert.equal(bodies[0], '\0\0\0\0\u0006\n\u0004shop');
  });

  it('fail on any other status of gRPC', async () => {
    const checking = await startChecking(GRPC, (stream) => answerGrpc(stream, 1, '12'));
    assert.equal((await outcomeOf(checking)).kind, 'failed');
  });
});

describe('hosts of a worker that died', () => {
  it('are checked by another one within one interval', () => {
    const delays: number[] = [];
    const clock: typeof systemClock = {
      ...systemClock,
      after: (delayMs) => {
        delays.push(delayMs);
        return { cancel: () => undefined };
      },
    };
    const duty = { ...clusterContext().duty, clock, workerIndex: 1, living: [0, 1] };
    const checked = new UpstreamCluster(cluster('c', { healthChecks: [TCP_CHECK] }), {
      ...clusterContext(),
      duty,
    });
    const hosts = Array.from({ length: 60 }, (_, at) => host(at + 1, { wasChecked: true }));
    checked.putHosts({ cluster: 'c', hosts, overprovisioningFactor: 140 });
    const own = delays.length;
    assert.ok(own > 0 && own < hosts.length, `${own} of them are its own`);
    duty.living = [1];
    checked.shareChecks();
    assert.equal(delays.length, hosts.length);
    const half = TCP_CHECK.intervalMs / 2;
    assert.ok(delays.every((delayMs) => delayMs < half));
    // Before these checks they go to the worker in the place of the dead one, and back again.
    duty.living = [0, 1];
    checked.shareChecks();
    duty.living = [1];
    checked.shareChecks();
    assert.ok(delays.length > hosts.length && delays.every((delayMs) => delayMs < half));
    checked.close();
  });
});
