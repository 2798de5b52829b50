import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { startRedisServer } from '../../support/redis/server.ts';

const REDIS = 'type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3';

describe('a Redis cluster of AWS', () => {
  it('gets passwords that are signed for each connection', async () => {
    await using server = await startRedisServer(([name]) =>
      name === 'auth' ? '+OK\r\n' : undefined,
    );
    const proxy = {
      '@type': `${REDIS}.RedisProxy`,
      stat_prefix: 'redis',
      settings: { op_timeout: '5s' },
      prefix_routes: { catch_all_route: { cluster: 'up' } },
    };
    const options = {
      '@type': `${REDIS}.RedisProtocolOptions`,
      auth_username: { inline_string: 'tester' },
      aws_iam: {
        region: 'eu-west-1',
        cache_name: 'cache',
        expiration_time: '900s',
        credential_provider: {
          inline_credential: { access_key_id: 'KEY', secret_access_key: 'SECRET' },
        },
      },
    };
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [
          {
            name: 'redis',
            address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
            filter_chains: [{ filters: [{ name: 'redis', typed_config: proxy }] }],
          },
        ],
        clusters: [
          staticCluster('up', [server.port], {
            typed_extension_protocol_options: { 'envoy.filters.network.redis_proxy': options },
          }),
        ],
      }),
    });
    const client = await openRaw(await sluice.listenerPort('redis'));
    client.send('*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n');
    await client.until('+OK\r\n');
    client.destroy();
    assert.match(
      server.commands[0] ?? '',
      /^auth tester cache\/\?Action=connect&User=tester&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=KEY%2F\d{8}%2Feu-west-1%2Felasticache%2Faws4_request&X-Amz-Date=\d{8}T\d{6}Z&X-Amz-Expires=900&X-Amz-Signature=[0-9a-f]{64}&X-Amz-SignedHeaders=host$/,
    );
    const { body } = await sluice.admin('/config_dump');
    assert.ok(!body.includes('X-Amz') && !body.includes('"SECRET"'));
  });
});
