/** What tests of `/connections` ask a server for. */
import assert from 'node:assert/strict';
import { openRaw, type RawConnection } from '../peers/raw-client.ts';
import type { Sluice } from './sluice.ts';

interface Row {
  readonly id: string;
  readonly listener: string;
  readonly client: string;
  readonly protocol: string;
  readonly route: string;
  readonly cluster: string;
  readonly host: string;
  readonly age_ms: number;
  readonly idle_ms?: number;
  readonly bytes_received: number;
  readonly bytes_sent: number;
  readonly streams: number;
  readonly requests: readonly { readonly id: string; readonly cluster: string }[];
}

interface Page {
  readonly connections: readonly Row[];
  readonly truncated: boolean;
  readonly silent_workers: readonly number[];
}

export const ASKED = 'GET /slow HTTP/1.1\r\nhost: a.test\r\n\r\n';
export const SLOW = { name: 'slow', match: { prefix: '/slow' }, route: { cluster: 'up' } };

export async function list(sluice: Sluice, query = ''): Promise<Page> {
  const { status, body } = await sluice.admin(`/connections?format=json&${query}`);
  assert.equal(status, 200, body);
  return JSON.parse(body) as Page;
}

export async function close(sluice: Sluice, query: string): Promise<string> {
  const { status, body } = await sluice.admin({
    path: `/connections/close?${query}`,
    method: 'POST',
  });
  assert.equal(status, 200, body);
  return body;
}

export async function greeted(
  sluice: Sluice,
  count: number,
  listener = 'web',
): Promise<RawConnection[]> {
  const port = await sluice.listenerPort(listener);
  const clients = await Promise.all(Array.from({ length: count }, async () => openRaw(port)));
  for (const client of clients) client.send('GET / HTTP/1.1\r\nhost: a.test\r\n\r\n');
  await Promise.all(clients.map((client) => client.until(/hi$/)));
  return clients;
}
