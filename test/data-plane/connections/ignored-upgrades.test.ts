import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const ROUTES = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];

/** [`upgrade` of a request, status, what filters and routes see of it]. */
const ASKED: readonly (readonly [upgrade: string, status: number, seen?: string])[] = [
  ['TLS/1.2', 200, ''],
  ['TLS/1.2, TLS/1.3', 200, ''],
  ['Foo', 200, ''],
  ['websocket', 200, 'websocket'],
  ['TLS/1.2, websocket', 200, 'websocket'],
  ['websocket,TLS/1.2', 200, 'websocket'],
  ['foo', 403],
  ['tls/1.2', 403],
  ['TLS/1.2, other', 403],
  ['TLS/1.2, h2c', 403],
];

describe('upgrades that are ignored', () => {
  it('leave a plain request, each of several protocols for itself', async () => {
    const listener = httpListener(ROUTES, {
      hcm: {
        upgrade_configs: [{ upgrade_type: 'websocket' }],
        http_protocol_options: { ignore_http_11_upgrade: [{ prefix: 'TLS/' }, { exact: 'Foo' }] },
        route_config: {
          virtual_hosts: [
            {
              name: 'all',
              domains: ['*'],
              routes: ROUTES,
              response_headers_to_add: [{ header: { key: 'seen', value: '[%REQ(upgrade)%]' } }],
            },
          ],
        },
      },
    });
    await using sluice = await startSluice({ bootstrap: bootstrap({ listeners: [listener] }) });
    const port = await sluice.listenerPort('web');
    for (const [upgrade, status, seen] of ASKED) {
      const client = await openRaw(port);
      client.send(
        `POST / HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: ${upgrade}\r\n` +
          'transfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      );
      const head = await client.until('\r\n\r\n');
      assert.ok(head.startsWith(`HTTP/1.1 ${String(status)} `), `${upgrade}: ${head}`);
      if (seen !== undefined) assert.ok(head.includes(`seen: [${seen}]`), `${upgrade}: ${head}`);
      // What is served as a plain request leaves a connection for the next one.
      if (seen === '') {
        client.send('GET /second HTTP/1.1\r\nhost: h\r\n\r\n');
        await client.until('seen: []\r\n');
      }
      client.destroy();
    }
  });
});
