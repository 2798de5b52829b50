/**
 * Limits that Envoy keeps over its process: two workers let pass together what the limit says, whichever of
 * them a connection comes to.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { LIMIT, WORKER_LIMITS, type WorkerLimit } from '../../support/limits/worker-limits.ts';
import { openRaw, type RawConnection } from '../../support/peers/raw-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { type Sluice, startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const WORKERS = 2;
/** So many that each worker gets more than the limit. */
const CLIENTS = 8 * LIMIT;
const REFUSED = new Set(['429', '503', '']);

describe('limits over all workers', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;
  /** Those of an earlier limit may still come while others are counted. */
  const heldFor = (name: string): number =>
    upstream.requests.filter(({ path }) => path === `/held/${name}`).length;

  before(async () => {
    upstream = await startHttpUpstream((request, response) => {
      if (request.url?.startsWith('/held/') !== true) response.end('hello');
    });
    const wide = { max_connections: 1000, max_requests: 1000, max_pending_requests: 1000 };
    sluice = await startSluice({
      concurrency: WORKERS,
      bootstrap: bootstrap({
        listeners: WORKER_LIMITS.map(({ listener }) => listener),
        clusters: [
          staticCluster('up', [upstream.port], { circuit_breakers: { thresholds: [wide] } }),
          ...WORKER_LIMITS.flatMap(({ cluster }) => (cluster ? [cluster(upstream.port)] : [])),
        ],
      }),
    });
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  for (const limit of WORKER_LIMITS) it(limit.name, async () => await keeps(limit));

  async function keeps({ name, heldAt, waits }: WorkerLimit): Promise<void> {
    const port = await sluice.listenerPort(name);
    const statuses: string[] = [];
    const clients = await Promise.all(Array.from({ length: CLIENTS }, async () => openRaw(port)));
    const path = heldAt === 'host' ? `/held/${name}` : '/';
    for (const client of clients) {
      client.send(`GET ${path} HTTP/1.1\r\nhost: h\r\nx-who: me\r\n\r\n`);
      void statusOf(client).then((status) => statuses.push(status));
    }
    const present = (): number => heldFor(name);
    if (waits !== true) {
      const answered = heldAt === undefined ? CLIENTS : CLIENTS - LIMIT;
      await waitUntil('the answers', () => statuses.length === answered);
    }
    if (heldAt === 'host') {
      await waitUntil('those that pass', () => present() >= LIMIT);
      await sluice.settled();
      // Each worker may open a connection where it has none.
      assert.ok(present() <= LIMIT + (waits === true ? WORKERS - 1 : 0), `${present()} pass`);
    }
    const passed = statuses.filter((status) => !REFUSED.has(status)).length;
    const expected = { host: 0, filter: CLIENTS - LIMIT, nowhere: LIMIT }[heldAt ?? 'nowhere'];
    assert.equal(passed, expected);
    for (const client of clients) client.destroy();
  }
});

/** Empty for a connection that is closed without an answer. */
async function statusOf(client: RawConnection): Promise<string> {
  const answer = await client.until('\r\n\r\n').catch(() => '');
  return answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
}
