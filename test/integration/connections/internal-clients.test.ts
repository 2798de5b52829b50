/** Which clients are internal: those of private networks, of own ranges, of Unix sockets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce, type Ask } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

/** Recorded of Envoy, with `internal_address_config: {}`. */
const PRIVATE: Readonly<Record<string, boolean>> = {
  '10.1.1.1': true,
  '172.15.0.1': false,
  '172.31.0.1': true,
  '172.32.0.1': false,
  '192.168.0.1': true,
  '127.0.0.1': true,
  '127.0.0.2': false,
  '11.0.0.1': false,
  'fc00::1': false,
  'fdff::1': true,
  'fe00::1': false,
  '::1': true,
  '::2': false,
};

const ROUTES = [
  {
    match: {
      prefix: '/',
      headers: [{ name: 'x-envoy-internal', string_match: { exact: 'true' } }],
    },
    direct_response: { status: 200 },
  },
  { match: { prefix: '/' }, direct_response: { status: 404 } },
];

function listener(name: string, hcm: object, fields: object = {}): object {
  return httpListener(ROUTES, { name, statPrefix: name, hcm, listener: fields });
}

async function isInternal(target: Ask, headers = {}): Promise<boolean> {
  return (await fetchOnce({ ...target, headers: { host: 'h.test', ...headers } })).status === 200;
}

describe('a client is internal', () => {
  it('in a private network, or over a Unix socket where the configuration says so', async () => {
    using scratch = makeScratch();
    const [on, off] = [scratch.file('on.sock'), scratch.file('off.sock')];
    const unix = (path: string): object => ({ address: { pipe: { path } } });
    const sockets = { use_remote_address: true, internal_address_config: { unix_sockets: true } };
    const everyIp = { cidr_ranges: [{ address_prefix: '0.0.0.0', prefix_len: 0 }] };
    const listeners = [
      listener('told', { internal_address_config: {} }),
      listener('nothing', {}),
      listener('tcp', sockets),
      listener('on', sockets, unix(on)),
      listener('off', { use_remote_address: true, internal_address_config: everyIp }, unix(off)),
    ];
    await using sluice = await startSluice({ bootstrap: bootstrap({ listeners }) });
    const port = await sluice.listenerPort('told');
    for (const [client, expected] of Object.entries(PRIVATE)) {
      assert.equal(await isInternal({ port }, { 'x-forwarded-for': client }), expected, client);
    }
    const bare = { port: await sluice.listenerPort('nothing') };
    assert.equal(await isInternal(bare, { 'x-forwarded-for': '10.1.1.1' }), false);
    assert.equal(await isInternal({ port: await sluice.listenerPort('tcp') }), true);
    assert.equal(await isInternal({ socketPath: on }), true);
    assert.equal(await isInternal({ socketPath: off }), false);
  });
});
