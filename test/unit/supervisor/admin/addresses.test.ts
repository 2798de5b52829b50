/** Where the admin interface listens, and who may connect to it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { AdminBindError } from '../../../../supervisor/admin/bind-admin.ts';
import { startAdmin } from '../../../../supervisor/admin/start-admin.ts';
import { exchange, LOOPBACK, start } from './admin-socket.ts';
import { fakeContext } from './fake-context.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-admin-'));
after(() => rmSync(folder, { recursive: true }));

test('a port that is taken is an error with its address', async () => {
  const { admin, port } = await start();
  await assert.rejects(
    startAdmin(fakeContext().context, { addresses: [{ address: { ...LOOPBACK, port } }] }),
    (error) =>
      error instanceof AdminBindError &&
      error.message === `cannot bind '127.0.0.1:${port}': Address already in use`,
  );
  admin.close();
});

test('it listens on several addresses: IPv6 and a unix socket whose file is left over', async () => {
  const path = join(folder, 'admin.sock');
  const { context, log } = fakeContext();
  const addresses = [
    { address: { kind: 'ip', family: 'v6', address: '::1', port: 0 } },
    { address: { kind: 'pipe', path }, mode: 0o600 },
  ] as const;
  const first = await startAdmin(context, { addresses });
  const second = await startAdmin(context, { addresses: addresses.slice(1) });
  const answer = await new Promise<string>((resolve) => {
    const socket = createConnection(path);
    socket.setEncoding('latin1');
    socket.once('data', (text: string) => {
      resolve(text);
      socket.destroy();
    });
    socket.write('GET /ready HTTP/1.1\r\nhost: a\r\n\r\n');
  });
  assert.match(answer, /LIVE/);
  assert.ok(log.every((line) => line.startsWith('info: admin address: ')));
  first.close();
  second.close();
});

test('a file that is no socket is never replaced by one', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'precious');
  await assert.rejects(
    startAdmin(fakeContext().context, { addresses: [{ address: { kind: 'pipe', path } }] }),
    AdminBindError,
  );
});

test('an address that is not local is warned about', async () => {
  const { context, log } = fakeContext();
  const address = { ...LOOPBACK, address: '0.0.0.0' };
  const admin = await startAdmin(context, { addresses: [{ address }] });
  assert.match(log.join('\n'), /warning: the admin interface listens on 0\.0\.0\.0:/);
  admin.close();
});

test('only processes of the users that are named may connect to the unix socket', async () => {
  const { context } = fakeContext();
  const own = process.getuid?.() ?? 0;
  for (const [allowedUids, expected] of [
    [[own], /^HTTP\/1.1 200 OK/],
    [[own + 1], /^$/],
  ] as const) {
    const path = join(folder, `admin-${allowedUids[0]}`);
    const admin = await startAdmin(context, {
      allowedUids,
      addresses: [{ address: { kind: 'pipe', path } }],
    });
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = createConnection({ path });
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
      socket.write('GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    });
    assert.match(answer, expected);
    admin.close();
  }
});

test('options of a socket are set, and one that the kernel refuses is an error of binding', async () => {
  const SOL_SOCKET = 1;
  const keepAlive = { level: SOL_SOCKET, name: 9, value: 1 };
  const states = ['prebind', 'bound', 'listening'] as const;
  const { context } = fakeContext();
  const address = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 } as const;
  const admin = await startAdmin(context, {
    addresses: [{ address, socketOptions: states.map((state) => ({ ...keepAlive, state })) }],
  });
  const [bound] = admin.addresses;
  assert.ok(bound?.kind === 'ip' && bound.port > 0);
  const answer = await exchange(
    bound.port,
    'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  assert.match(answer, /^HTTP\/1.1 200 OK/);
  admin.close();
  const wrong = { level: SOL_SOCKET, name: 9999, value: 1, state: 'prebind' } as const;
  await assert.rejects(
    startAdmin(context, { addresses: [{ address, socketOptions: [wrong] }] }),
    /cannot bind '127.0.0.1:0': setting socket option 1\/9999 failed: /,
  );
});
