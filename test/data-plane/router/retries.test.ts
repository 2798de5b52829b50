/** Requests that fail at one host and are tried again. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import type { RetryPolicy } from '../../../shared/resources/routes/retry-policy.ts';
import {
  cluster,
  type DataPlaneSetup,
  host,
  type RunningDataPlane,
  startDataPlane,
} from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { NO_RETRIES, prefix, route, toCluster } from '../../support/parts/routes.ts';
import { CLOSED_PORT, type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';

const POLICY: RetryPolicy = { ...NO_RETRIES, retryOn: ['5xx'], numRetries: 2 };

function retrying(policy: Partial<RetryPolicy> = {}): DataPlaneSetup {
  return { routes: [route(prefix('/'), toCluster({ retryPolicy: { ...POLICY, ...policy } }))] };
}

/** Answers the first requests with these statuses, all others with 200. */
async function answering(
  ...statuses: readonly (number | ((response: ServerResponse) => void))[]
): Promise<HttpUpstream> {
  let at = 0;
  return startHttpUpstream((request, response) => {
    const answer = statuses[at++] ?? 200;
    request.resume();
    request.on('end', () => {
      if (typeof answer === 'function') answer(response);
      else response.writeHead(answer, { 'content-length': 10 }).end(`status ${answer}`);
    });
  });
}

async function ask(plane: RunningDataPlane, request = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n') {
  const client = await openRaw(plane.port);
  client.send(request);
  const answer = await client.until(/\r\n\r\n(status|upstream|no healthy|exceeded|rest)/);
  client.destroy();
  return answer;
}

function counts(plane: RunningDataPlane, ...names: readonly string[]): Record<string, number> {
  const stats = plane.stats();
  return Object.fromEntries(names.map((name) => [name, stats.get(`cluster.up.${name}`) ?? 0]));
}

describe('a request that fails', () => {
  it('is tried again until it succeeds', async () => {
    await using upstream = await answering(503, 500);
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      ...retrying(),
      virtualHost: { includeRequestAttemptCount: true, includeAttemptCountInResponse: true },
    });
    const answer = await ask(plane);
    assert.match(answer, /^HTTP\/1\.1 200 .*x-envoy-attempt-count: 3\r\n.*status 200$/s);
    assert.deepEqual(
      upstream.requests.map(({ headers }) => headers['x-envoy-attempt-count']),
      ['1', '2', '3'],
    );
    const names = ['upstream_rq_retry', 'upstream_rq_retry_success', 'retry.upstream_rq_5xx'];
    assert.deepEqual(
      counts(plane, ...names, 'upstream_rq_200', 'upstream_rq_retry_backoff_exponential'),
      {
        upstream_rq_retry: 2,
        upstream_rq_retry_success: 1,
        'retry.upstream_rq_5xx': 2,
        upstream_rq_200: 1,
        upstream_rq_retry_backoff_exponential: 2,
      },
    );
  });

  it('gets the last answer when no try is left', async () => {
    await using upstream = await answering(500, 501, 502, 503);
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port], ...retrying() });
    assert.match(await ask(plane), /^HTTP\/1\.1 502 .*status 502$/s);
    assert.deepEqual(counts(plane, 'upstream_rq_retry', 'upstream_rq_retry_limit_exceeded'), {
      upstream_rq_retry: 2,
      upstream_rq_retry_limit_exceeded: 1,
    });
  });

  it('is sent again with its body and trailing pieces', async () => {
    await using upstream = await answering(503);
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port], ...retrying() });
    const body = 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n';
    assert.match(await ask(plane, `${body}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`), /status 200/);
    assert.deepEqual(
      upstream.requests.map((request) => request.body),
      ['abcde', 'abcde'],
    );
  });

  it('is not sent again once its body is more than may be kept', async () => {
    await using upstream = await answering(503);
    const routes = [
      route(prefix('/'), toCluster({ retryPolicy: POLICY }), { perRequestBufferLimitBytes: 4 }),
    ];
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port], routes });
    const answer = await ask(plane, 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde');
    assert.match(answer, /^HTTP\/1\.1 503 .*status 503$/s);
    assert.deepEqual(counts(plane, 'retry_or_shadow_abandoned', 'upstream_rq_retry'), {
      retry_or_shadow_abandoned: 1,
      upstream_rq_retry: 0,
    });
  });

  it('goes to another host when the first refuses connections', async () => {
    await using upstream = await answering();
    const policy = { retryOn: ['connect-failure'], numRetries: 1 };
    await using plane = await startDataPlane({
      upstreamPorts: [CLOSED_PORT, upstream.port],
      ...retrying({
        ...policy,
        hostPredicates: [{ kind: 'previous_hosts' }],
        hostSelectionRetryMaxAttempts: 5,
      }),
    });
    for (let request = 0; request < 4; request++) {
      assert.match(await ask(plane), /^HTTP\/1\.1 200 /);
    }
    assert.ok((counts(plane, 'upstream_rq_retry')['upstream_rq_retry'] ?? 0) >= 1);
  });

  it('is told of the last of several tries', async () => {
    await using plane = await startDataPlane({
      upstreamPorts: [CLOSED_PORT],
      ...retrying({ retryOn: ['connect-failure'] }),
    });
    assert.match(
      await ask(plane),
      /503 .*retried and the latest reset reason: remote connection failure$/s,
    );
  });

  it('is tried again when its connection is reset, for every condition that says so', async () => {
    for (const retryOn of ['reset', '5xx', 'gateway-error']) {
      await using upstream = await answering((response) => response.socket?.resetAndDestroy());
      await using plane = await startDataPlane({
        upstreamPorts: [upstream.port],
        ...retrying({ retryOn: [retryOn] }),
      });
      assert.match(await ask(plane), /^HTTP\/1\.1 200 /, retryOn);
    }
    await using upstream = await answering((response) => response.socket?.resetAndDestroy());
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      ...retrying({ retryOn: ['connect-failure', 'reset-before-request', 'refused-stream'] }),
    });
    assert.match(await ask(plane), /^HTTP\/1\.1 503 /);
  });

  it('is tried again when a try takes too long, and answered by the first that is good', async () => {
    for (const hedgeOnPerTryTimeout of [false, true]) {
      await using upstream = await answering(() => undefined);
      const routes = [
        route(
          prefix('/'),
          toCluster({
            retryPolicy: { ...POLICY, perTryTimeoutMs: 250 },
            hedgePolicy: { initialRequests: 1, hedgeOnPerTryTimeout },
          }),
        ),
      ];
      await using plane = await startDataPlane({ upstreamPorts: [upstream.port], routes });
      assert.match(await ask(plane), /^HTTP\/1\.1 200 /);
      const stats = counts(plane, 'upstream_rq_per_try_timeout', 'upstream_rq_retry');
      // The second try may take too long as well on a busy machine.
      const retries = stats['upstream_rq_retry'] ?? 0;
      assert.ok(retries >= 1);
      assert.equal(stats['upstream_rq_per_try_timeout'], hedgeOnPerTryTimeout ? 0 : retries);
      assert.equal(plane.stats().get('cluster.up.upstream_rq_active'), 0);
    }
  });

  it('is not tried again beyond the limit of concurrent retries', async () => {
    await using upstream = await answering(503);
    const thresholds = { ...cluster('up').circuitBreakers.DEFAULT, maxRetries: 0 };
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      cluster: { circuitBreakers: { DEFAULT: thresholds, HIGH: thresholds } },
      ...retrying(),
    });
    assert.match(await ask(plane), /^HTTP\/1\.1 503 /);
    assert.equal(counts(plane, 'upstream_rq_retry_overflow')['upstream_rq_retry_overflow'], 1);
  });

  it('waits as long as the upstream asks', async () => {
    await using upstream = await answering((response) =>
      response.writeHead(503, { 'content-length': 6, 'retry-after': '1' }).end('status'),
    );
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      ...retrying({
        rateLimitedBackOff: {
          maxIntervalMs: 2000,
          resetHeaders: [{ name: 'retry-after', format: 'SECONDS' }],
        },
      }),
    });
    const began = performance.now();
    assert.match(await ask(plane), /^HTTP\/1\.1 200 /);
    assert.ok(performance.now() - began >= 950);
    const name = 'upstream_rq_retry_backoff_ratelimited';
    assert.equal(counts(plane, name)[name], 1);
  });
});

describe('priorities that were tried', () => {
  it('are left out while others can take the request, and begin again when none is left', async () => {
    await using first = await startHttpUpstream((request, response) => {
      request.resume();
      response.writeHead(503).end();
    });
    await using second = await startHttpUpstream((request, response) => {
      request.resume();
      response.writeHead(503, { 'content-length': 10 }).end('status 503');
    });
    const hosts = [first, second].map(({ port }, priority) => host(port, { priority }));
    await using plane = await startDataPlane({
      ...retrying({ numRetries: 3, previousPrioritiesUpdateFrequency: 1 }),
      updates: [{ op: 'put_hosts', hosts: { cluster: 'up', hosts, overprovisioningFactor: 140 } }],
    });
    assert.match(await ask(plane), /status 503$/);
    assert.deepEqual([first.requests.length, second.requests.length], [2, 2]);
  });
});
