/** Requests of the proxy's own: that each comes to one response or one failure, and is counted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { host } from '../../support/parts/data-plane.ts';
import { NO_RETRIES } from '../../support/parts/routes.ts';
import { startClient } from '../../support/parts/upstream-client.ts';
import { CLOSED_PORT, startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

describe('the upstream client', () => {
  it('sends a request as the proxy’s own and hands on the response', async () => {
    await using upstream = await startHttpUpstream();
    await using client = startClient([host(upstream.port)]);
    const sent = client.send({ endStream: false });
    sent.run((stream) => stream.sendData(Buffer.from('body'), true));
    await sent.over;
    assert.deepEqual(sent.events, ['200', 'hello', 'end']);
    const [seen] = upstream.requests;
    assert.equal(seen?.path, '/check');
    assert.equal(seen.body, 'body');
    assert.equal(seen.headers['x-envoy-internal'], 'true');
    assert.equal(seen.headers['x-forwarded-for'], '192.0.2.1');
    const stats = client.stats();
    assert.equal(stats.get('http.async-client.rq_total'), 1);
    assert.equal(stats.get('cluster.up.internal.upstream_rq_200'), 1);
    assert.equal(stats.get('cluster.up.upstream_rq_time'), 1);
    assert.equal(stats.get(`host.up.127.0.0.1:${upstream.port}.rq_success`), 1);
  });

  it('fails at once where no host is there', async () => {
    await using client = startClient([]);
    const sent = client.send();
    assert.deepEqual(sent.events, ['failed: 503 no_healthy_upstream']);
    sent.run((stream) => {
      stream.sendData(Buffer.from('late'), true);
      stream.cancel();
    });
    assert.equal(sent.events.length, 1);
    assert.equal(client.stats().get('cluster.up.upstream_cx_none_healthy'), 1);
    assert.equal(client.stats().get('cluster.up.upstream_rq_503'), 1);
  });

  it('fails where no connection can be made', async () => {
    await using client = startClient([host(CLOSED_PORT)]);
    const sent = client.send();
    await sent.over;
    assert.match(sent.events.join(), /^failed: 503 upstream_reset_before_response_started\{/);
    assert.equal(client.stats().get(`host.up.127.0.0.1:${CLOSED_PORT}.rq_error`), 1);
  });

  it('gives up at its deadline, before and within a response', async () => {
    await using silent = await startHttpUpstream(() => undefined);
    await using slow = await startHttpUpstream((_, response) => response.write('part'));
    for (const { port, began } of [
      { port: silent.port, began: [] },
      { port: slow.port, began: ['200', 'part'] },
    ]) {
      await using client = startClient([host(port)]);
      const sent = client.send({ timeoutMs: 100 });
      await sent.over;
      assert.deepEqual(sent.events, [...began, 'failed: 504 response_timeout']);
      assert.equal(client.stats().get('cluster.up.upstream_rq_timeout'), 1);
      assert.equal(client.stats().get('cluster.up.upstream_rq_active'), 0);
      assert.equal(
        client.stats().get('cluster.up.upstream_rq_504') ?? 0,
        began.length === 0 ? 1 : 0,
      );
    }
  });

  it('has no deadline before the whole request was given', async () => {
    await using silent = await startHttpUpstream(() => undefined);
    await using client = startClient([host(silent.port)]);
    const open = client.send({ endStream: false, timeoutMs: 10 });
    const whole = client.send({ timeoutMs: 60 });
    await whole.over;
    assert.deepEqual(open.events, []);
    open.run((stream) => stream.sendData(Buffer.from('all'), true));
    await open.over;
    assert.deepEqual(open.events, ['failed: 504 response_timeout']);
  });

  it('tells a sender that cancelled nothing more, at any moment', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.write('part'));
    await using client = startClient([host(upstream.port)]);
    const early = client.send();
    early.run((stream) => stream.cancel());
    const late = client.send({
      onHeaders: () => late.stream.cancel(),
    });
    await waitUntil('headers', () => late.events.length > 0);
    await waitUntil('the end', () => client.stats().get('cluster.up.upstream_rq_active') === 0);
    await waitUntil('the close', () => client.stats().get('cluster.up.upstream_cx_active') === 0);
    assert.deepEqual(early.events, []);
    assert.deepEqual(late.events, ['200']);
  });

  it('says when a response breaks off', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf');
        setImmediate(() => socket.destroy());
      });
    });
    await using client = startClient([host(upstream.port)]);
    const sent = client.send();
    await sent.over;
    const details = 'upstream_reset_after_response_started{protocol_error}';
    assert.deepEqual(sent.events, ['200', 'half', `failed: 502 ${details}`]);
    assert.equal(client.stats().get('cluster.up.upstream_rq_active'), 0);
  });

  it('retries by its policy, and hands on the last response', async () => {
    let left = 2;
    await using upstream = await startHttpUpstream((request, response) => {
      request.resume().on('end', () => {
        response.statusCode = left-- > 0 ? 503 : 200;
        response.end('done');
      });
    });
    await using client = startClient([host(upstream.port)]);
    const retries = { ...NO_RETRIES, retryOn: ['5xx'], numRetries: 3 };
    const sent = client.send({ endStream: false, retries });
    sent.run((stream) => stream.sendData(Buffer.from('again'), true));
    await sent.over;
    assert.deepEqual(sent.events, ['200', 'done', 'end']);
    assert.deepEqual(
      upstream.requests.map(({ body }) => body),
      ['again', 'again', 'again'],
    );
    assert.equal(client.stats().get('cluster.up.upstream_rq_retry'), 2);
    assert.equal(client.stats().get('cluster.up.upstream_rq_retry_success'), 1);
    assert.equal(client.stats().get('cluster.up.retry.upstream_rq_503'), 2);
    assert.equal(client.heldBytes(), 0);
  });

  it('sends no body again that is longer than may be kept', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      request.resume().on('end', () => {
        response.statusCode = 503;
        response.end();
      });
    });
    await using client = startClient([host(upstream.port)]);
    const retries = { ...NO_RETRIES, retryOn: ['5xx'], numRetries: 3 };
    const sent = client.send({ endStream: false, bufferLimitBytes: 8, retries });
    sent.run((stream) => stream.sendData(Buffer.alloc(9), true));
    await sent.over;
    assert.equal(upstream.requests.length, 1);
    assert.deepEqual(
      sent.events.filter((event) => event !== 'paused' && event !== 'resumed'),
      ['503', 'end'],
    );
    assert.equal(client.stats().get('cluster.up.retry_or_shadow_abandoned'), 1);
    assert.equal(client.heldBytes(), 0);
  });

  it('pauses a sender at the limit until there is a connection', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      request.resume().on('end', () => response.end());
    });
    await using client = startClient([host(upstream.port)]);
    const sent = client.send({ endStream: false, bufferLimitBytes: 8 });
    sent.run((stream) => stream.sendData(Buffer.alloc(7), false));
    assert.deepEqual(sent.events, []);
    sent.run((stream) => stream.sendData(Buffer.alloc(1), true));
    assert.deepEqual(sent.events, ['paused']);
    assert.equal(client.heldBytes(), 8);
    await sent.over;
    assert.deepEqual(sent.events, ['paused', 'resumed', '200', 'end']);
    assert.equal(client.heldBytes(), 0);
    assert.equal(client.stats().get('cluster.up.upstream_flow_control_backed_up_total'), 1);
  });

  it('sends nothing to a cluster whose requests are dropped', async () => {
    await using upstream = await startHttpUpstream();
    await using client = startClient([host(upstream.port)], {}, { dropShare: 1 });
    const sent = client.send();
    assert.deepEqual(sent.events, ['failed: 503 unconditional_drop_overload']);
    assert.equal(upstream.requests.length, 0);
  });

  it('ends alone where its sender throws', async () => {
    await using upstream = await startHttpUpstream();
    const thrown: unknown[] = [];
    await using client = startClient(
      [host(upstream.port)],
      {},
      {
        note: (error) => thrown.push(error),
      },
    );
    const sent = client.send({
      onHeaders: () => {
        throw new Error('of the sender');
      },
    });
    await waitUntil('the exception', () => sent.events.includes('exception'));
    assert.deepEqual(sent.events, ['200', 'exception']);
    assert.equal(thrown.length, 1);
    const next = client.send();
    await next.over;
    assert.deepEqual(next.events, ['200', 'hello', 'end']);
    await waitUntil('the end', () => client.stats().get('cluster.up.upstream_rq_active') === 0);
  });
});
