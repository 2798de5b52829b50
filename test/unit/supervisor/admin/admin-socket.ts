/** An admin listener on a real socket with what stands behind it faked, and bytes sent to it. */
import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import type { AdminContext } from '../../../../supervisor/admin/admin-context.ts';
import { ADMIN_LIMITS } from '../../../../supervisor/admin/http/admin-limits.ts';
import type { AdminLimits } from '../../../../supervisor/admin/http/admin-limits.ts';
import { startAdmin } from '../../../../supervisor/admin/start-admin.ts';
import { fakeContext } from './fake-context.ts';

export const LOOPBACK = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 } as const;

export async function start(
  overrides: Partial<AdminContext> = {},
  limits: Partial<AdminLimits> = {},
) {
  const fake = fakeContext(overrides);
  const admin = await startAdmin(fake.context, {
    addresses: [{ address: LOOPBACK }],
    limits: { ...ADMIN_LIMITS, ...limits },
  });
  const [bound] = admin.addresses;
  assert.ok(bound?.kind === 'ip');
  return { ...fake, admin, port: bound.port };
}

/** Sends the bytes and returns everything received until the server closes. */
export async function exchange(port: number, bytes: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () =>
      socket.write(bytes, 'latin1'),
    );
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
    });
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
    socket.setTimeout(5000, () => socket.destroy(new Error(`no end: ${received}`)));
  });
}
