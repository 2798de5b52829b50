/** The filter ratelimit: a service's limits hold, and a service that breaks decides nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { type Answer, fetchOnce } from '../../support/peers/http-client.ts';
import {
  grpcCluster,
  limitResponse,
  textsAt,
} from '../../support/peers/services/asked-services.ts';
import {
  answerCall,
  framed,
  type SeenCall,
  startGrpcPeer,
} from '../../support/peers/services/grpc-peer.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const OK = 1;
const OVER_LIMIT = 2;
/** The fields of RateLimitRequest: descriptors, entries, value. */
const VALUES = [2, 1, 2];

const BY_HEADER = {
  actions: [{ request_headers: { header_name: 'x-who', descriptor_key: 'who' } }],
};
const WHEN_DONE = {
  apply_on_stream_done: true,
  actions: [{ generic_key: { descriptor_value: 'done' } }],
};

interface Running {
  readonly sluice: Sluice;
  readonly upstream: Awaited<ReturnType<typeof startHttpUpstream>>;
  ask(who: string): Promise<Answer>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startWith(
  port: number,
  config: object,
  limits: readonly object[],
): Promise<Running> {
  const upstream = await startHttpUpstream();
  const filters = [
    {
      name: 'envoy.filters.http.ratelimit',
      typed_config: {
        '@type': `${TYPE}.ratelimit.v3.RateLimit`,
        domain: 'shop',
        timeout: '0.3s',
        rate_limit_service: { grpc_service: { envoy_grpc: { cluster_name: 'limit' } } },
        ...config,
      },
    },
    { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
  ];
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up', rate_limits: limits } }];
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: filters } })],
      clusters: [staticCluster('up', [upstream.port]), grpcCluster('limit', port)],
    }),
  });
  const web = await sluice.listenerPort('web');
  return {
    sluice,
    upstream,
    ask: async (who) => fetchOnce({ port: web, headers: { 'x-who': who } }),
    [Symbol.asyncDispose]: async () => {
      await sluice[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

function whoIs(call: SeenCall): string | undefined {
  return textsAt(call.body(), VALUES)[0];
}

describe('a rate limit service', () => {
  it('limits requests by their descriptors, and says so to the client', async () => {
    await using service = await startGrpcPeer((call) =>
      call.stream.on('end', () => {
        const code = whoIs(call) === 'greedy' ? OVER_LIMIT : OK;
        answerCall(call, framed(limitResponse(code, 'slow down')));
      }),
    );
    const headers = { enable_x_ratelimit_headers: 'DRAFT_VERSION_03' };
    await using running = await startWith(service.port, headers, [BY_HEADER, WHEN_DONE]);
    const passed = await running.ask('modest');
    assert.equal(passed.status, 200);
    assert.equal(passed.headers['x-ratelimit-limit'], '10, 10;w=60');
    assert.equal(passed.headers['x-ratelimit-remaining'], '4');
    assert.equal(passed.headers['x-ratelimit-reset'], '30');
    const limited = await running.ask('greedy');
    assert.deepEqual([limited.status, limited.body], [429, 'slow down']);
    assert.equal(limited.headers['x-envoy-ratelimited'], 'true');
    assert.equal(running.upstream.requests.length, 1);
    const isDone = (): boolean =>
      service.calls.filter((call) => whoIs(call) === 'done').length === 2;
    await waitUntil('both requests were told at their end', isDone);
    assert.equal(await running.sluice.stat('cluster.up.ratelimit.over_limit'), 1);
    assert.equal(await running.sluice.stat('cluster.up.upstream_rq_429'), 1);
  });

  it('lets requests pass, or none, while it does not answer', async () => {
    await using service = await startGrpcPeer((call) => {
      if (whoIs(call) === 'garbage') answerCall(call, framed(Buffer.from([0xff])));
    });
    for (const [denies, status] of [
      [false, 200],
      [true, 500],
    ] as const) {
      await using running = await startWith(service.port, { failure_mode_deny: denies }, [
        BY_HEADER,
      ]);
      const answers = await Promise.all(['silent', 'garbage'].map((who) => running.ask(who)));
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [status, status],
      );
      assert.equal(await running.sluice.stat('cluster.up.ratelimit.error'), 2);
    }
  });
});
