/** The client of `sluice/admin` beside a real server and hosts that are none. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { AdminClient, AdminRefusal, queryOf } from '../../../src/admin-client/admin-client.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
const bootstrap = { admin: ADMIN, static_resources: { listeners: [httpListener(routes)] } };

describe('the client of the administration interface', () => {
  let sluice: Awaited<ReturnType<typeof startSluice>>;
  let admin: AdminClient;
  before(async () => {
    sluice = await startSluice({ bootstrap });
    admin = new AdminClient({ address: `127.0.0.1:${sluice.adminPort}` });
  });
  after(async () => await sluice.stop());

  it('reads pages as text and as JSON, with their parameters', async () => {
    assert.equal(await admin.isReady(), true);
    const only = await admin.get('/stats', { filter: '^server\\.live$' });
    assert.equal(only, 'server.live: 1\n');
    const info = await admin.json<{ state: string }>('/server_info');
    assert.equal(info.state, 'LIVE');
    const { listener_statuses: listeners } = await admin.json<{
      readonly listener_statuses: readonly { readonly name: string }[];
    }>('/listeners', { format: 'json' });
    assert.deepEqual(
      listeners.map(({ name }) => name),
      ['web'],
    );
    assert.equal((await admin.stats('^server\\.(live|state)$')).get('server.live'), 1);
  });

  it('sends commands, and says what the server refuses', async () => {
    assert.match(await admin.post('/logging', { level: 'error' }), /admin: error/);
    const refused = admin.post('/logging', { level: 'loud' as 'off' });
    await assert.rejects(refused, (error: AdminRefusal) => {
      assert.ok(error instanceof AdminRefusal);
      return error.status === 400 && error.message.startsWith('/logging answers 400: ');
    });
  });

  it('takes the place of a server from its socket path, with a token', async () => {
    using scratch = makeScratch();
    const path = scratch.file('admin.sock');
    let seen: string | undefined;
    await using _host = await startHost((request, response) => {
      seen = request.headers.authorization;
      response.end('LIVE\n');
    }, path);
    assert.equal(await new AdminClient({ address: path, token: 'abc' }).isReady(), true);
    assert.equal(seen, 'Bearer abc');
  });

  it('gives up on answers without end, and when it is told to', async () => {
    await using host = await startHost((request, response) => {
      if (request.url === '/ready') return;
      const more = (): void => void (response.write('x'.repeat(64 * 1024)) && setImmediate(more));
      response.on('drain', more);
      more();
    });
    const client = new AdminClient({ address: `127.0.0.1:${host.port}`, maxBytes: 1_000_000 });
    await assert.rejects(client.get('/stats'), /\/stats answers more than 1000000 bytes/);
    const stopping = new AbortController();
    const asked = client.isReady({ signal: stopping.signal });
    stopping.abort();
    assert.equal(await asked, false);
  });
});

it('parameters become a query: flags by name, lists repeated, what is undefined left out', () => {
  const params = { flag: true, off: false, none: undefined, text: 'a b&c', header: ['x:1', 'y:2'] };
  assert.equal(queryOf(params), '?flag&text=a%20b%26c&header=x%3A1&header=y%3A2');
  assert.equal(queryOf({}), '');
});

interface Host extends AsyncDisposable {
  readonly port: number;
}

async function startHost(answer: RequestListener, path?: string): Promise<Host> {
  const server = createServer(answer);
  await once(path === undefined ? server.listen(0, '127.0.0.1') : server.listen(path), 'listening');
  return {
    port: path === undefined ? (server.address() as AddressInfo).port : 0,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
