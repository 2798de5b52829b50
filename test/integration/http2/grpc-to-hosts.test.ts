/** Requests of gRPC to a server of grpc-js: trailers, deadlines, and retries by status. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Server,
  ServerCredentials,
  status,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { startHttp2Upstream } from '../../support/peers/http2.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { isQuiet, proxyToHttp2 } from '../../support/programs/http2-upstreams.ts';

const PATH = '/test.Echo/Say';
const same = (bytes: Buffer): Buffer => bytes;

type Call = ServerUnaryCall<Buffer, Buffer>;

/** `say` answers each call. */
async function startService(
  say: (call: Call, done: sendUnaryData<Buffer>, index: number) => void,
): Promise<{ port: number; calls: () => number; [Symbol.asyncDispose]: () => Promise<void> }> {
  const server = new Server();
  let calls = 0;
  const codec = {
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  server.addService(
    { say: { path: PATH, requestStream: false, responseStream: false, ...codec } },
    { say: (call: Call, done: sendUnaryData<Buffer>) => say(call, done, calls++) },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    calls: () => calls,
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  };
}

/** One message of gRPC in a request of HTTP/1 and the whole answer as text. */
async function callOnce(port: number, more: readonly string[] = []): Promise<string> {
  const client = await openRaw(port);
  const head = [
    `POST ${PATH} HTTP/1.1`,
    'Host: h',
    'Content-Type: application/grpc',
    'TE: trailers',
    'Content-Length: 8',
    'Connection: close',
    ...more,
  ];
  client.send(`${head.join('\r\n')}\r\n\r\n\0\0\0\0\u0003abc`);
  const text = await client.closed();
  client.destroy();
  return text;
}

describe('gRPC to hosts', () => {
  it('brings messages and the status in trailers', async () => {
    await using service = await startService((call, done) => done(null, call.request));
    await using sluice = await proxyToHttp2(service.port);
    const text = await callOnce(sluice.port);
    assert.match(text, /^HTTP\/1\.1 200 OK/);
    assert.ok(text.includes('\0\0\0\0\u0003abc'));
    assert.match(text, /grpc-status: 0\r\n/);
    await isQuiet(sluice);
  });

  it('is tried again by the status of an answer that has nothing else', async () => {
    await using service = await startService((call, done, index) => {
      if (index === 0) done({ code: status.UNAVAILABLE, details: 'later' });
      else done(null, call.request);
    });
    const retry_policy = { retry_on: 'unavailable', num_retries: 2 };
    await using sluice = await proxyToHttp2(service.port, { route: { retry_policy } });
    assert.match(await callOnce(sluice.port), /grpc-status: 0\r\n/);
    assert.equal(service.calls(), 2);
    await isQuiet(sluice);
  });

  it('ends at the deadline of its client', async () => {
    // A server of grpc-js would keep the deadline itself, and perhaps be first.
    await using upstream = await startHttp2Upstream((stream) => stream.resume());
    await using sluice = await proxyToHttp2(upstream.port, { route: { max_grpc_timeout: '10s' } });
    const text = await callOnce(sluice.port, ['grpc-timeout: 50m']);
    assert.match(text, /^HTTP\/1\.1 200 OK/);
    assert.match(text, /grpc-message: upstream request timeout\r\n/);
    await isQuiet(sluice);
  });
});
