/**
 * Whatever is asked of the admin interface, the supervisor goes on: it answers probes, forgets the
 * work of clients that are gone, and ends when it is told to. Long pages take minutes to make here;
 * nothing waits for one.
 */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { attackRandom, attackRuns, attackTurns } from '../../support/attack.ts';
import {
  adminBootstrap,
  hostilePages,
  type HostilePage,
} from '../../support/peers/hostile/hostile-admin-pages.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const CLUSTERS = attackRuns(300, 10_000);
const LARGE_HOSTS = attackRuns(100, 20_000);
/** Takes minutes with so many clusters. */
const LONG: HostilePage = { method: 'GET', target: '/stats?filter=.*.*.*.*.*zz' };
/** Less than the limits of time that end the work of a client of which nothing is known. */
const IDLE_MS = attackRuns(15_000, 30_000);
/** The first page of Prometheus' puts the tags of all names in order. */
const PAGE_MS = attackRuns(30_000, 240_000);
const ACTIVE = 'http.admin.downstream_rq_active';

describe('the admin interface', () => {
  let sluice: Sluice;

  before(async () => {
    sluice = await startSluice({ bootstrap: adminBootstrap(CLUSTERS, LARGE_HOSTS) });
  });
  after(async () => {
    await sluice.stop();
  });

  const ready = async (): Promise<void> => {
    assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
  };
  /** Only the request that asks is under way. */
  const untilIdle = async (): Promise<void> => {
    const isIdle = async (): Promise<boolean> => (await sluice.stat(ACTIVE)) === 1;
    await waitUntil('no request but this', isIdle, IDLE_MS);
  };

  it('answers probes while a page is made, whatever is asked, and forgets it with its client', async () => {
    for (const page of hostilePages(CLUSTERS)) {
      const client = await begin(sluice.adminPort, page);
      for (let probe = 0; probe < 3; probe++) await ready();
      client.destroy();
    }
    await untilIdle();
  });

  it('forgets the pages of many clients that leave', async () => {
    const clients = await Promise.all(
      Array.from({ length: 100 }, () => begin(sluice.adminPort, LONG)),
    );
    await ready();
    for (const client of clients) client.destroy();
    await untilIdle();
    await ready();
  });

  it('answers one request after the other of a client that sends hundreds and leaves', async () => {
    const client = connect(sluice.adminPort, '127.0.0.1');
    client.on('error', () => undefined);
    client.write(headOf(LONG, 'keep-alive').repeat(500));
    await waitUntil('the first', async () => (await sluice.stat(ACTIVE)) === 2);
    await ready();
    client.destroy();
    await untilIdle();
  });

  it('answers new clients while one holds more connections than there may be', async () => {
    const idle = Array.from({ length: 1100 }, (_, index) => {
      const socket = connect(sluice.adminPort, '127.0.0.1');
      socket.on('error', () => undefined);
      // Some say nothing, some never come to the end of what they say.
      if (index % 3 > 0) socket.write('POST /logging HTTP/1.1\r\nhost: a\r\n');
      if (index % 3 > 1) socket.write('content-length: 100\r\n\r\nlevel');
      return socket;
    });
    await Promise.all(idle.map(connected));
    for (let probe = 0; probe < 20; probe++) await ready();
    assert.ok((await sluice.stat('sluice.admin.idle_closed_for_others')) >= 77);
    for (const socket of idle) socket.destroy();
  });

  it('answers every query without a failure of its own', async () => {
    const random = attackRandom();
    const paths = [
      '/stats',
      '/stats/prometheus',
      '/clusters',
      '/config_dump',
      '/listeners',
      '/init_dump',
    ];
    for (const _ of attackTurns(30, 5000)) {
      const path = paths[Math.floor(random() * paths.length)] ?? '/';
      const { status, body } = await fetchOnce(
        {
          port: sluice.adminPort,
          path: `${path}?${randomQuery(random)}&filter=^none$&name_regex=none`,
        },
        PAGE_MS,
      );
      assert.ok([200, 400, 404].includes(status), `${status}: ${body.slice(0, 200)}`);
    }
    assert.doesNotMatch(sluice.stderr(), /cannot answer|exception/);
  });

  it('ends at once while long pages are made', async () => {
    const clients = await Promise.all(
      Array.from({ length: 50 }, () => begin(sluice.adminPort, LONG)),
    );
    sluice.signal('SIGTERM');
    assert.equal((await sluice.exited(15_000)).code, 0);
    for (const client of clients) client.destroy();
  });
});

function headOf({ method, target, body = '' }: HostilePage, connection = 'close'): string {
  return (
    `${method} ${target} HTTP/1.1\r\nhost: a\r\nconnection: ${connection}\r\n` +
    `content-length: ${body.length}\r\n\r\n`
  );
}

/** Resolves when the request is on its way; the answer is not read. */
async function begin(port: number, page: HostilePage): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await connected(socket);
  socket.write(headOf(page) + (page.body ?? ''));
  return socket;
}

async function connected(socket: Socket): Promise<void> {
  if (!socket.connecting) return;
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
    socket.once('close', resolve);
  });
}

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'format',
  'filter',
  'mask',
  'resource',
  'type',
  'hidden',
  'histogram_buckets',
  'usedonly',
  '',
  '%',
  '%zz',
  '%00',
  '%c3%28',
  'a[b]',
];
const VALUES = [
  ...NAMES,
  'json',
  'prometheus',
  'html',
  'bootstrap',
  '%0d%0a',
  '%e0%a4',
  '-1',
  '1e999',
];

/** Names and values that stand for something elsewhere, again and again. */
function randomQuery(random: () => number): string {
  const one = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
  return Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
    random() < 0.2
      ? one(NAMES)
      : `${one(NAMES)}=${one(VALUES).repeat(1 + Math.floor(random() * 3))}`,
  ).join('&');
}
