import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answerCall,
  framed,
  type GrpcPeer,
  startGrpcPeer,
} from '../../support/peers/services/grpc-peer.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { respCommand, startRedisServer } from '../../support/redis/server.ts';
import { type RedisStage, startRedis } from '../../support/redis/stage.ts';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const HTTP2 = {
  typed_extension_protocol_options: {
    [HTTP_OPTIONS]: {
      '@type': `type.googleapis.com/${HTTP_OPTIONS}`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

/** RedisProxyExternalAuthResponse: a status, a time in seconds from 1970, a message. */
function answerOf({ code = 0, untilS = 0, message = '' }): Buffer {
  const status = code === 0 ? [] : [0x0a, 2, 0x08, code];
  const time = untilS === 0 ? [] : [0x12, 2, 0x08, untilS];
  const text = Buffer.from(message);
  const end =
    text.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x1a, text.length]), text]);
  return framed(Buffer.concat([Buffer.from([...status, ...time]), end]));
}

/** Says yes to the password `yes`, breaks off at `broken`, and says no to others. */
async function startService(): Promise<GrpcPeer> {
  return startGrpcPeer((call) => {
    call.stream.on('end', () => {
      const asked = call.body().toString();
      if (asked.includes('broken')) answerCall(call, Buffer.alloc(0), { 'grpc-status': '14' });
      else if (asked.includes('old')) answerCall(call, answerOf({ untilS: 1 }));
      else if (asked.includes('yes')) answerCall(call, answerOf({}));
      else answerCall(call, answerOf({ code: 7, message: 'not\r\nyou' }));
    });
  });
}

async function start(
  service: GrpcPeer,
  store: Awaited<ReturnType<typeof startRedisServer>>,
  enable_auth_expiration = false,
): Promise<RedisStage> {
  const grpc_service = { envoy_grpc: { cluster_name: 'auth' }, timeout: '5s' };
  const external_auth_provider = { grpc_service, enable_auth_expiration };
  return startRedis(
    { store, auth: [service.port] },
    { config: { external_auth_provider }, cluster: HTTP2 },
  );
}

const GET = respCommand('GET', 'k');
const REFUSED = '-NOAUTH Authentication required.\r\n';

describe('a service that knows the passwords of the Redis proxy', () => {
  it('lets a client in, and what the client sent meanwhile waits for it', async () => {
    await using service = await startService();
    await using store = await startRedisServer();
    await using stage = await start(service, store);
    assert.equal(await stage.ask(GET), REFUSED);
    const client = await openRaw(stage.port);
    client.send(respCommand('AUTH', 'me', 'yes') + GET + respCommand('PING'));
    assert.equal(await client.until(/PONG/), '+OK\r\n$-1\r\n+PONG\r\n');
    client.destroy();
    const [call] = service.calls;
    assert.equal(
      call?.headers[':path'],
      '/envoy.service.redis_auth.v3.RedisProxyExternalAuth/Authenticate',
    );
    assert.deepEqual(call?.body(), framed('\n\u0002me\u0012\u0003yes'));
  });

  it('keeps a client out, in words that stay on their line', async () => {
    await using service = await startService();
    await using store = await startRedisServer();
    await using stage = await start(service, store);
    assert.equal(await stage.ask(respCommand('AUTH', 'no'), GET), `-ERR not  you\r\n${REFUSED}`);
    const hello = await stage.ask(respCommand('HELLO', '2', 'AUTH', 'me', 'no'));
    assert.equal(hello, '-WRONGPASS not  you\r\n');
    assert.deepEqual(store.commands, []);
  });

  it('greets with HELLO whom it lets in', async () => {
    await using service = await startService();
    await using store = await startRedisServer();
    await using stage = await start(service, store);
    const client = await openRaw(stage.port);
    client.send(respCommand('HELLO', '2', 'AUTH', 'me', 'yes') + GET);
    assert.match(await client.until(/\$-1\r\n$/), /^\*14\r\n/);
    client.destroy();
  });

  it('lets nobody in when it does not answer, or when the time is over', async () => {
    await using service = await startService();
    await using store = await startRedisServer();
    await using stage = await start(service, store, true);
    const failed = '-ERR external authentication failed\r\n';
    assert.equal(await stage.ask(respCommand('AUTH', 'broken'), GET), failed + REFUSED);
    assert.equal(await stage.ask(respCommand('AUTH', 'old'), GET), `+OK\r\n${REFUSED}`);
  });
});
