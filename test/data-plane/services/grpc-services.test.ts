/** gRPC calls of a worker's own: what goes out, and the status that every answer comes to. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GrpcTarget } from '../../../shared/resources/grpc-target.ts';
import type { GrpcStatus, GrpcStream } from '../../../workers/services/grpc-services.ts';
import { host } from '../../support/parts/data-plane.ts';
import { HTTP2_OPTIONS } from '../../support/parts/http2-options.ts';
import { requestHeaders, streamInfo } from '../../support/parts/stream.ts';
import { type RunningClient, startClient } from '../../support/parts/upstream-client.ts';
import {
  answerCall,
  framed,
  type SeenCall,
  startGrpcPeer,
} from '../../support/peers/services/grpc-peer.ts';
import { CLOSED_PORT } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const METHOD = '/test.Service/Ask';
const TARGET = { kind: 'cluster', cluster: 'up', authority: 'svc', metadata: [] } as const;

function clientOf(port: number): RunningClient {
  return startClient(
    [host(port)],
    {},
    { upstreamHttp: { protocol: 'HTTP2', http2: HTTP2_OPTIONS } },
  );
}

/** Makes a unary call: the answer's text, or the status it failed with. */
async function ask(
  client: RunningClient,
  target: GrpcTarget = TARGET,
  options: { readonly timeoutMs?: number } = {},
): Promise<string | GrpcStatus> {
  return new Promise((resolve, reject) => {
    client.run(() => {
      const service = client.grpc.service(target);
      service.call({ method: METHOD, ...options }, Buffer.from('question'), {
        onAnswer: (message) => resolve(message.toString()),
        onFailure: resolve,
        onException: () => reject(new Error('an exception')),
      });
      service.release();
    });
  });
}

async function askPeer(serve: (call: SeenCall) => void): Promise<string | GrpcStatus> {
  await using peer = await startGrpcPeer(serve);
  await using client = clientOf(peer.port);
  return await ask(client);
}

interface HeardStream {
  readonly stream: GrpcStream;
  readonly events: readonly string[];
}

function openStream(client: RunningClient, target: GrpcTarget = TARGET): HeardStream {
  const events: string[] = [];
  const stream = client.run(() =>
    client.grpc.service(target).open(
      { method: METHOD },
      {
        onInitialMetadata: (metadata) => events.push(`head ${metadata.get('x-head') ?? ''}`),
        onMessage: (message) => events.push(message.toString()),
        onEnd: ({ code, message }) => events.push(`end ${code} ${message}`),
        onException: () => events.push('exception'),
      },
    ),
  );
  return { stream, events };
}

describe('a unary gRPC call', () => {
  it('goes out with Envoy’s headers and comes back with the answer', async () => {
    await using peer = await startGrpcPeer((call) => answerCall(call, framed('answer')));
    await using client = clientOf(peer.port);
    const metadata = [
      { key: 'X-Secret', value: 'open sesame' },
      { key: 'x-bytes-bin', value: 'ab' },
    ];
    assert.equal(await ask(client, { ...TARGET, metadata }, { timeoutMs: 500 }), 'answer');
    const headers = Object.entries(peer.calls[0]?.headers ?? {});
    assert.deepEqual(Object.fromEntries(headers), {
      ':path': METHOD,
      ':method': 'POST',
      ':authority': 'svc',
      ':scheme': 'http',
      te: 'trailers',
      'grpc-timeout': '500m',
      'content-type': 'application/grpc',
      'x-secret': 'open sesame',
      'x-bytes-bin': 'YWI=',
      'x-envoy-internal': 'true',
      'x-forwarded-for': '192.0.2.1',
      'x-envoy-expected-rq-timeout-ms': '500',
    });
    assert.deepEqual(peer.calls[0]?.body(), framed('question'));
    assert.equal(client.stats().get('cluster.up.upstream_rq_200'), 1);
    assert.equal(client.stats().get('http.async-client.rq_total'), 1);
  });

  it('formats metadata for the request that it is made for, and without one does not', async () => {
    await using peer = await startGrpcPeer((call) => answerCall(call, framed('')));
    await using client = clientOf(peer.port);
    const target = { ...TARGET, metadata: [{ key: 'x-path', value: '%REQ(:path)%' }] };
    const parents = [streamInfo(requestHeaders('/asked')), undefined];
    for (const parent of parents) {
      await new Promise<void>((resolve, reject) => {
        client.run(() =>
          client.grpc.service(target).call({ method: METHOD, parent }, Buffer.alloc(0), {
            onAnswer: () => resolve(),
            onFailure: ({ message }) => reject(new Error(message)),
            onException: () => reject(new Error('an exception')),
          }),
        );
      });
    }
    assert.deepEqual(
      peer.calls.map(({ headers }) => headers['x-path']),
      ['/asked', '%REQ(:path)%'],
    );
  });

  it('comes to the status that Envoy gives each kind of answer', async () => {
    const answers: readonly (readonly [(call: SeenCall) => void, number, string])[] = [
      [(call) => answerCall(call, Buffer.alloc(0)), 13, ''],
      [(call) => answerCall(call, framed('x'), {}), 2, ''],
      [(call) => answerCall(call, framed('x'), { 'grpc-status': 'ok' }), 2, ''],
      [
        (call) => answerCall(call, framed('x'), { 'grpc-status': '7', 'grpc-message': 'a%20b' }),
        7,
        'a b',
      ],
      [(call) => answerCall(call, Buffer.from([1, 0, 0, 0, 0])), 13, ''],
      [(call) => answerCall(call, Buffer.from([0, 255, 0, 0, 0])), 8, ''],
      [(call) => answerCall(call, framed('cut').subarray(0, 6)), 13, ''],
      [({ stream }) => stream.respond({ ':status': 200 }, { endStream: true }), 2, ''],
      [({ stream }) => stream.respond({ ':status': 404 }, { endStream: true }), 1, ''],
      [
        ({ stream }) => stream.respond({ ':status': 404, 'grpc-status': '5' }, { endStream: true }),
        5,
        '',
      ],
      [
        ({ stream }) => {
          stream.respond({ ':status': 200 });
          stream.end(framed('x'));
        },
        2,
        '',
      ],
      [
        ({ stream }) => {
          stream.respond({ ':status': 200 });
          stream.write(framed('x'), () => stream.session?.destroy());
        },
        13,
        '',
      ],
    ];
    for (const [at, [serve, code, message]] of answers.entries()) {
      const status = await askPeer(serve);
      assert.ok(typeof status === 'object' && status.details !== '', `answer ${at}`);
      const told = { code: status.code, message: status.message };
      assert.deepEqual(told, { code, message }, `answer ${at}`);
    }
  });

  it('fails where nobody is there, the cluster is unknown, or time is up', async () => {
    await using nobody = clientOf(CLOSED_PORT);
    const refused = await ask(nobody);
    assert.ok(typeof refused === 'object' && refused.code === 14, 'refused');
    const unknown = await ask(nobody, { ...TARGET, cluster: 'constructor' });
    assert.deepEqual(unknown, { code: 14, message: 'Cluster not available' });
    await using silent = await startGrpcPeer(() => undefined);
    await using client = clientOf(silent.port);
    const late = await ask(client, TARGET, { timeoutMs: 50 });
    const message = 'upstream request timeout';
    assert.deepEqual(late, { code: 14, message, details: 'response_timeout' });
    assert.equal(client.stats().get('cluster.up.upstream_rq_timeout'), 1);
  });
});

describe('a gRPC stream', () => {
  const echo = ({ stream }: SeenCall): void => {
    stream.respond({ ':status': 200, 'x-head': 'here' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.on('data', (piece: Buffer) => stream.write(piece));
    stream.on('end', () => stream.end());
  };

  it('carries messages both ways until its sender ends it', async () => {
    await using peer = await startGrpcPeer(echo);
    await using client = clientOf(peer.port);
    const { stream, events } = openStream(client);
    client.run(() => stream.send(Buffer.from('one')));
    await waitUntil('an answer', () => events.includes('one'));
    client.run(() => {
      stream.send(Buffer.from('two'));
      stream.endSending();
      stream.send(Buffer.from('late'));
    });
    await waitUntil('the end', () => events.includes('end 0 '));
    assert.deepEqual(events, ['head here', 'one', 'two', 'end 0 ']);
    assert.equal(client.heldBytes(), 0);
  });

  it('hears nothing once it was cancelled, from within a message too', async () => {
    await using peer = await startGrpcPeer(({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.write(Buffer.concat([framed('one'), framed('two')]));
    });
    await using client = clientOf(peer.port);
    const events: string[] = [];
    const stream: GrpcStream = client.run(() =>
      client.grpc.service(TARGET).open(
        { method: METHOD },
        {
          onMessage: (message) => {
            events.push(message.toString());
            stream.cancel();
          },
          onEnd: () => events.push('end'),
          onException: () => events.push('exception'),
        },
      ),
    );
    await waitUntil('the reset', () => peer.calls[0]?.stream.destroyed === true);
    assert.deepEqual(events, ['one']);
    assert.equal(client.stats().get('cluster.up.upstream_rq_active'), 0);
  });

  it('tells a sender to wait whose messages nobody reads', async () => {
    await using peer = await startGrpcPeer(({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.pause();
    });
    await using client = clientOf(peer.port);
    const { stream } = openStream(client);
    const message = Buffer.alloc(256 * 1024);
    let sent = 0;
    await waitUntil('congestion', () => {
      if (!stream.isCongested) client.run(() => stream.send(message));
      sent += stream.isCongested ? 0 : 1;
      return stream.isCongested;
    });
    assert.ok(sent < 64, `${sent} messages`);
    client.run(() => stream.cancel());
    assert.equal(client.heldBytes(), 0);
  });
});

describe('a gRPC service at an address', () => {
  it('is called by gRPC’s own library and counted by its name', async () => {
    await using peer = await startGrpcPeer((call) => answerCall(call, framed('answer')));
    await using client = clientOf(CLOSED_PORT);
    const target: GrpcTarget = {
      kind: 'uri',
      uri: `127.0.0.1:${peer.port}`,
      statPrefix: 'svc',
      args: {},
      metadata: [{ key: 'x-a', value: 'b' }],
    };
    assert.equal(await ask(client, target), 'answer');
    assert.equal(peer.calls[0]?.headers['x-a'], 'b');
    const { stream, events } = openStream(client, target);
    client.run(() => stream.endSending());
    await waitUntil('the end', () => events.includes('end 0 '));
    assert.deepEqual(events, ['head ', 'answer', 'end 0 ']);
    const stats = client.stats();
    assert.equal(stats.get('grpc.svc.google_grpc_client_creation'), 2);
    assert.equal(stats.get('grpc.svc.streams_total'), 2);
    assert.equal(stats.get('grpc.svc.streams_closed_0'), 2);
  });

  it('is unavailable where nobody listens', async () => {
    await using client = clientOf(CLOSED_PORT);
    const uri = `127.0.0.1:${CLOSED_PORT}`;
    const target = { kind: 'uri', uri, statPrefix: 'svc', args: {}, metadata: [] } as const;
    const failed = await ask(client, target);
    assert.ok(typeof failed === 'object' && failed.code === 14, JSON.stringify(failed));
  });
});
