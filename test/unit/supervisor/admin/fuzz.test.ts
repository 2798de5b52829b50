/**
 * Random requests from a fixed seed: no crash, no hang, no 5xx but the documented ones. The number
 * of requests is raised with SLUICE_FUZZ_REQUESTS.
 */
import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { test } from 'node:test';
import { createAdminRouter } from '../../../../supervisor/admin/admin-router.ts';
import { adminRoutes } from '../../../../supervisor/admin/admin-routes.ts';
import { Profilers } from '../../../../supervisor/profiling/profilers.ts';
import { ADMIN_LIMITS } from '../../../../supervisor/admin/http/admin-limits.ts';
import { createMessageTypes } from '../../../../supervisor/admin/message-types.ts';
import { startAdmin } from '../../../../supervisor/admin/start-admin.ts';
import { fakeContext } from './fake-context.ts';

const REQUESTS = Number(process.env['SLUICE_FUZZ_REQUESTS'] ?? 6000);
const SEED = 20260102;

/** A small generator with a period that is long enough here (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const routes = adminRoutes({
  types: createMessageTypes(),
  profilers: new Profilers({ path: '/nosuch/profile' }),
});
const METHODS = 'GET GET GET POST POST HEAD PUT DELETE OPTIONS TRACE PATCH'.split(' ');
const NAMES = `filter mask resource name_regex include_eds format level paths group enable
  graceful inboundonly skip_exit usedonly type histogram_buckets`.split(/\s+/);
const PIECES = `%00 %ff % %2 %5B [ ( ) ( * + \\ ^ | & = ? / // .. . ~ <b> ' " json text y n
  bootstrap.node static_clusters cluster.name a.b.c @type __proto__ constructor 1 -1 é`.split(
  /\s+/,
);

class RequestMaker {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  text(): string {
    const count = Math.floor(this.#random() * 5);
    return Array.from({ length: count }, () => this.pick(PIECES)).join('');
  }

  target(): string {
    const route = this.pick(routes);
    // Reading a heap collects its garbage: most of the time would go there.
    const isAsked = this.chance(0.85) && (!route.path.includes('heap_dump') || this.chance(0.05));
    const path = isAsked ? route.path : `/${this.text()}`;
    const parts = Array.from({ length: Math.floor(this.#random() * 4) }, () =>
      this.chance(0.9) ? `${this.pick(NAMES)}=${this.text()}` : this.text(),
    );
    return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
  }

  bytes(): string {
    const length = Math.floor(this.#random() * 60);
    return Array.from({ length }, () => String.fromCharCode(this.#random() * 256)).join('');
  }

  /** A request as it goes over a socket, right or wrong. */
  raw(): string {
    const body = this.chance(0.3) ? this.text() : '';
    const lines = [
      `${this.pick(METHODS)} ${this.target()} HTTP/1.${this.chance(0.95) ? 1 : 0}`,
      ...(this.chance(0.95) ? ['host: a'] : []),
      ...(this.chance(0.3) ? [`content-length: ${Buffer.byteLength(body)}`] : []),
      ...(this.chance(0.1) ? [`x: ${this.bytes()}`] : []),
      ...(this.chance(0.05) ? ['transfer-encoding: chunked'] : []),
      'connection: close',
    ];
    const request = `${lines.join('\r\n')}\r\n\r\n${body}`;
    const at = Math.floor(this.#random() * request.length);
    if (this.chance(0.15)) return request.slice(0, at) + this.bytes() + request.slice(at);
    return this.chance(0.05) ? this.bytes() : request;
  }

  /** A connection of HTTP/2: its preface, then frames of any kind with any flags. */
  frames(): string {
    const count = 1 + Math.floor(this.#random() * 20);
    const frames = Array.from({ length: count }, () => {
      const payload = this.bytes();
      const [kind, flags, stream] = [12, 256, 6].map((end) => Math.floor(this.#random() * end));
      const head = [0, 0, payload.length, kind ?? 0, flags ?? 0, 0, 0, 0, stream ?? 0];
      return String.fromCharCode(...head) + payload;
    });
    const settings = '\x00\x00\x00\x04\x00\x00\x00\x00\x00';
    return `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settings}${frames.join('')}`;
  }
}

// 501 and 500: profilers and tracing that this build does not have; 503: no runtime layer.
const ALLOWED_5XX =
  /^\/(heap_dump|peak_heap_dump|heapprofiler|allocprofiler|cpuprofiler|contention)/;

test('no target, method or form makes an endpoint fail', async () => {
  const { context, log } = fakeContext();
  const router = createAdminRouter(routes, context);
  const maker = new RequestMaker(SEED);
  for (let index = 0; index < REQUESTS; index++) {
    const target = maker.target();
    const response = await router.answer({
      method: maker.pick(METHODS),
      target,
      headers: { host: 'a', 'content-type': 'application/x-www-form-urlencoded' },
      body: maker.text(),
      client: 'fuzz',
    });
    if (response === undefined) continue;
    assert.ok(response.status < 500 || ALLOWED_5XX.test(target), `${response.status} ${target}`);
    if (typeof response.body === 'string' || response.body instanceof Uint8Array) continue;
    for await (const chunk of response.body) assert.ok(chunk.length >= 0);
  }
  assert.deepEqual(
    log.filter((line) => line.startsWith('error')),
    [],
  );
});

test('no bytes on the socket make the server fail or leave a client without an end', async () => {
  await sendAll(REQUESTS / 10, (maker) => maker.raw());
});

test('no frames of HTTP/2 make the server fail or leave a client without an end', async () => {
  await sendAll(REQUESTS / 100, (maker) => maker.frames());
});

/**
 * Each on a connection of its own; afterwards the server must be ready and have logged no error.
 */
async function sendAll(count: number, make: (maker: RequestMaker) => string): Promise<void> {
  const { context, log } = fakeContext();
  const address = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 } as const;
  const limits = { ...ADMIN_LIMITS, stalledReaderMs: 100 };
  const admin = await startAdmin(context, { addresses: [{ address }], limits });
  const port = admin.addresses[0]?.kind === 'ip' ? admin.addresses[0].port : 0;
  const maker = new RequestMaker(SEED);
  for (let round = 0; round < Math.ceil(count / 20); round++) {
    const requests = Array.from({ length: 20 }, () => make(maker));
    await Promise.all(requests.map(async (request) => await sendAndEnd(port, request)));
  }
  assert.deepEqual(
    log.filter((line) => line.startsWith('error')),
    [],
  );
  const answer = await sendAndEnd(
    port,
    'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  assert.match(answer, /LIVE/);
  admin.close();
}

/** Sends the bytes, ends its side and waits for the server's end. */
async function sendAndEnd(port: number, bytes: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => {
      socket.end(bytes, 'latin1');
    });
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
    });
    socket.on('close', () => resolve(received));
    // A reset after the answer is an end, too.
    socket.on('error', () => undefined);
    socket.setTimeout(5000, () => reject(new Error(`no end after ${JSON.stringify(bytes)}`)));
  });
}
