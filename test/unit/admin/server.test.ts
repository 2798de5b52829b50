/** The admin listener on a real socket: what HTTP itself demands, limits, back-pressure. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { AdminContext } from '../../../supervisor/admin/admin-context.ts';
import { AdminBindError } from '../../../supervisor/admin/bind-admin.ts';
import { ADMIN_LIMITS } from '../../../supervisor/admin/http/admin-limits.ts';
import type { AdminLimits } from '../../../supervisor/admin/http/admin-limits.ts';
import { startAdmin } from '../../../supervisor/admin/start-admin.ts';
import { LISTENER } from '../../../shared/stats/templates/listener.ts';
import { waitUntil } from '../../support/wait.ts';
import { fakeContext } from './fake-context.ts';
import { recordingWriter } from './recording-writer.ts';

const LOOPBACK = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 } as const;
const folder = mkdtempSync(join(tmpdir(), 'sluice-admin-'));
after(() => rmSync(folder, { recursive: true }));

async function start(overrides: Partial<AdminContext> = {}, limits: Partial<AdminLimits> = {}) {
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
async function exchange(port: number, bytes: string): Promise<string> {
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

const normalise = (answer: string) => answer.replace(/date: [^\r]*/, 'date: <date>');

test('an answer carries the headers of the reference in its order', async () => {
  const { admin, port } = await start();
  const request = 'GET /ready HTTP/1.1\r\nhost: a\r\n\r\n';
  const last = 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const head = [
    'HTTP/1.1 200 OK',
    'content-type: text/plain; charset=UTF-8',
    'cache-control: no-cache, max-age=0',
    'x-content-type-options: nosniff',
    'date: <date>',
    'server: sluice',
  ];
  const body = '5\r\nLIVE\n\r\n0\r\n\r\n';
  const answers = await exchange(port, request + last);
  assert.equal(
    answers.replace(/date: [^\r]*/g, 'date: <date>'),
    [...head, 'transfer-encoding: chunked', '', body].join('\r\n') +
      [...head, 'connection: close', 'transfer-encoding: chunked', '', body].join('\r\n'),
  );
  admin.close();
});

test('HEAD gets the headers of GET and no body', async () => {
  const { admin, port } = await start();
  const answer = await exchange(
    port,
    'HEAD /help HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  assert.match(answer, /transfer-encoding: chunked\r\n\r\n$/);
  admin.close();
});

const REFUSED: readonly (readonly [string, string, number])[] = [
  ['HTTP/1.0', 'GET /ready HTTP/1.0\r\n\r\n', 426],
  ['HTTP/1.0 with keep-alive', 'GET /ready HTTP/1.0\r\nconnection: keep-alive\r\n\r\n', 426],
  ['HTTP/0.9', 'GET /ready\r\n\r\n', 426],
  ['HTTP/2.0', 'GET /ready HTTP/2.0\r\nhost: a\r\n\r\n', 426],
  ['HTTP/1.2', 'GET /ready HTTP/1.2\r\nhost: a\r\n\r\n', 426],
  ['half a version', 'GET /ready HTTP/1.\r\nhost: a\r\n\r\n', 400],
  ['bytes behind the version', 'GET /ready HTTP/1.1x\r\nhost: a\r\n\r\n', 400],
  ['bare line feeds', 'GET /ready HTTP/1.1\nhost: a\n\n', 400],
  ['an unknown method', 'FOO /ready HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['a method in lower case', 'get /ready HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['garbage', '\x00\x01\x02\r\n\r\n', 400],
  ['a target without a slash', 'GET ready HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['a blank in the target', 'GET /re ady HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['a control byte in the target', 'GET /re\x01ady HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['bytes above ASCII in the target', 'GET /r\xc3\xa9 HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['a blank in a field name', 'GET / HTTP/1.1\r\nhost: a\r\nx y: 1\r\n\r\n', 400],
  ['a length that is no number', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n', 400],
  [
    'a length together with chunks',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    400,
  ],
  [
    'an unknown transfer encoding',
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n',
    501,
  ],
  ['too many fields', `GET / HTTP/1.1\r\nhost: a\r\n${'x: 1\r\n'.repeat(101)}\r\n`, 431],
  ['too large fields', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
];

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  426: 'Upgrade Required',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
};

test('what is no acceptable request is answered as the reference does and ends the connection', async (t) => {
  const { admin, port } = await start();
  for (const [name, bytes, status] of REFUSED) {
    await t.test(name, async () => {
      const reason = REASONS[status] ?? '';
      assert.equal(
        normalise(await exchange(port, bytes)),
        `HTTP/1.1 ${status} ${reason}\r\ncontent-length: ${reason.length}\r\n` +
          'content-type: text/plain\r\ndate: <date>\r\nserver: sluice\r\nconnection: close\r\n\r\n' +
          reason,
      );
    });
  }
  admin.close();
});

test('requests that came whole are answered before bytes behind them are refused', async () => {
  const { admin, port } = await start();
  const ready = 'GET /ready HTTP/1.1\r\nhost: a\r\n\r\n';
  const answers = await exchange(port, `${ready}${ready}GARBAGE\r\n\r\n`);
  assert.deepEqual(
    [...answers.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status),
    ['200', '200', '400'],
  );
  admin.close();
});

test('what follows a request that closes the connection is not read', async () => {
  const { admin, port } = await start();
  const closing = 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const answers = await exchange(port, `${closing}GET /help HTTP/1.1\r\nhost: a\r\n\r\n`);
  assert.match(answers, /^HTTP\/1.1 200 OK[^]*LIVE\n\r\n0\r\n\r\n$/);
  admin.close();
});

test('a client that says nothing gets 408 after the limit for headers', async () => {
  const { admin, port } = await start({}, { headersMs: 50 });
  assert.match(await exchange(port, ''), /^HTTP\/1.1 408 Request Timeout/);
  assert.match(await exchange(port, 'PRI * HTT'), /^HTTP\/1.1 408 Request Timeout/);
  admin.close();
});

test('a request without a host gets 400 and an empty body', async () => {
  const { admin, port } = await start();
  assert.equal(
    normalise(await exchange(port, 'GET /ready HTTP/1.1\r\n\r\n')),
    'HTTP/1.1 400 Bad Request\r\ndate: <date>\r\nserver: sluice\r\n' +
      'connection: close\r\ncontent-length: 0\r\n\r\n',
  );
  admin.close();
});

test('hosts, methods and targets that the reference refuses get 400', async () => {
  const { admin, port } = await start();
  const head = 'HTTP/1.1\r\nhost: a\r\n\r\n';
  const cases: readonly (readonly [string, string])[] = [
    ['GET /ready HTTP/1.1\r\nhost: a/b\r\n\r\n', 'Bad Request'],
    [`M-SEARCH /ready ${head}`, 'Bad Request'],
    [`CONNECT /ready ${head}`, 'Bad Request'],
    [`GET /ready#a ${head}`, ''],
    [`GET /ready%00 ${head}`, ''],
  ];
  for (const [request, body] of cases) {
    const answer = await exchange(port, request);
    assert.match(answer, /^HTTP\/1.1 400 Bad Request\r\n/, request);
    assert.equal(answer.split('\r\n\r\n')[1], body, request);
  }
  const filtered = await exchange(
    port,
    `GET /ready?%00 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
  );
  assert.match(filtered, /^HTTP\/1.1 200 OK/);
  admin.close();
});

test('a target that is no path gets an empty 404', async () => {
  const { admin, port } = await start();
  for (const target of ['http://a/ready', '*']) {
    const method = target === '*' ? 'OPTIONS' : 'GET';
    const answer = await exchange(
      port,
      `${method} ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1.1 404 Not Found\r\n[^]*\r\ncontent-length: 0\r\n\r\n$/);
  }
  admin.close();
});

test('queries with raw ^ | \\ ( ) and 50,000 bytes are accepted', async () => {
  const { admin, port } = await start();
  for (const query of ['usedonly&filter=^(a|b)\\.c$', 'a'.repeat(50_000)]) {
    const answer = await exchange(
      port,
      `GET /ready?${query} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1.1 200 OK/);
  }
  admin.close();
});

test('form bodies are parameters, and a body beyond the limit is refused', async () => {
  const given: ReadonlyMap<string, string>[] = [];
  const runtime = {
    snapshot: () => new Map(),
    layers: () => [],
    entries: () => [],
    modifyAdminLayer: async (values: ReadonlyMap<string, string>) => {
      given.push(values);
      return await Promise.resolve(undefined);
    },
  };
  const { admin, port } = await start({ runtime }, { bodyBytes: 100 });
  const post = (body: string) =>
    'POST /runtime_modify HTTP/1.1\r\nhost: a\r\nconnection: close\r\n' +
    `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  assert.match(await exchange(port, post('a=b&c=%64')), /^HTTP\/1.1 200 OK/);
  assert.deepEqual(
    [...(given[0] ?? [])],
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  );
  assert.match(await exchange(port, post('a'.repeat(101))), /^HTTP\/1.1 413 Payload Too Large/);
  admin.close();
});

/** A page without end that counts how many chunks were pulled from it. */
function endlessPage() {
  const state = { pulled: 0, ended: false };
  function* body(): Generator<string> {
    try {
      for (;;) {
        state.pulled++;
        yield 'x'.repeat(64 * 1024);
      }
    } finally {
      state.ended = true;
    }
  }
  const stats: AdminContext['stats'] = {
    read: async () => await Promise.resolve({ status: 200, body: body() }),
    recentLookups: () => ({ status: 200, body: '' }),
    resetCounters: async () => await Promise.resolve(),
  };
  return { state, stats };
}

/** 10,000 clusters of 64 KiB, which are made one by one: a dump of 640 MB. */
function hugeDump(): Pulled & { readonly config: AdminContext['config'] } {
  const state = { pulled: 0 };
  const cluster = {
    name: 'huge',
    versionInfo: '',
    lastUpdatedMs: 0,
    get message() {
      state.pulled++;
      return {
        '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
        name: 'x'.repeat(64 * 1024),
      };
    },
  };
  const { config } = fakeContext().context;
  const clusters = { ...config.clusters(), static: Array<typeof cluster>(10_000).fill(cluster) };
  return { state, config: { ...config, clusters: () => clusters } };
}

interface Pulled {
  readonly state: { readonly pulled: number };
}

function connectAndAsk(port: number, path: string): Socket {
  const socket = createConnection({ port, host: '127.0.0.1' });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
  return socket;
}

async function closed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}

for (const path of ['/stats', '/config_dump']) {
  test(`a client that stops reading ${path} is closed after the limit, with bounded memory`, async () => {
    const { state, ...page } = path === '/stats' ? endlessPage() : hugeDump();
    const writer = recordingWriter();
    const limits = { stalledReaderMs: 150 };
    const { admin, port } = await start({ ...page, statWriter: writer }, limits);
    const socket = connectAndAsk(port, path);
    socket.on('error', () => undefined);
    socket.pause();
    const counter = () => writer.named.get('sluice.admin.stalled_readers_closed') ?? -1;
    await waitUntil('the end of the connection', () => writer.valueOf(counter()) === 1);
    // What the kernel's socket buffers take, and not much more.
    assert.ok(state.pulled > 0 && state.pulled < 400, `pulled ${state.pulled} pieces`);
    socket.destroy();
    admin.close();
  });
}

test('a page ends when its client leaves', async () => {
  const { state, stats } = endlessPage();
  const { admin, port } = await start({ stats });
  const socket = connectAndAsk(port, '/stats');
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.destroy();
  await new Promise<void>((resolve) => {
    const poll = setInterval(() => {
      if (!state.ended) return;
      clearInterval(poll);
      resolve();
    }, 10);
  });
  admin.close();
});

test('/ready answers while large pages are being sent', async () => {
  const { stats } = endlessPage();
  const { admin, port } = await start({ stats });
  const readers = [connectAndAsk(port, '/stats'), connectAndAsk(port, '/stats')];
  for (const reader of readers) reader.on('data', () => undefined);
  const request = 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  for (let round = 0; round < 10; round++) {
    const before = performance.now();
    assert.match(await exchange(port, request), /LIVE/);
    assert.ok(performance.now() - before < 1000);
  }
  for (const reader of readers) reader.destroy();
  admin.close();
});

test('large pages beyond the limit wait their turn, then get 503', async () => {
  const { stats } = endlessPage();
  const limits = { largePages: 1, waitingLargePages: 1, largePageWaitMs: 50 };
  const { config } = hugeDump();
  const { admin, port } = await start({ stats, config }, limits);
  const first = connectAndAsk(port, '/stats');
  await new Promise<void>((resolve) => first.once('data', () => resolve()));
  first.pause();
  const request = 'GET /stats HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const dump = request.replace('/stats', '/config_dump');
  const others = await Promise.all([exchange(port, request), exchange(port, dump)]);
  for (const answer of others) assert.match(answer, /^HTTP\/1.1 503 Service Unavailable/);
  assert.match(await exchange(port, request.replace('/stats', '/ready')), /LIVE/);
  first.destroy();
  admin.close();
});

test('connections beyond the limit get 503 and are closed', async () => {
  const { admin, port } = await start({}, { connections: 1 });
  const first = connectAndAsk(port, '/ready');
  await new Promise<void>((resolve) => first.once('data', () => resolve()));
  const answer = await exchange(port, '');
  assert.match(answer, /^HTTP\/1.1 503 Service Unavailable/);
  first.destroy();
  await closed(first);
  admin.close();
});

test('connections are counted under listener.admin', async () => {
  const writer = recordingWriter();
  const { admin, port } = await start({ statWriter: writer });
  await exchange(port, 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  const base = writer.named.get('listener.admin.') ?? -1;
  assert.equal(writer.valueOf(base + LISTENER.index.downstream_cx_total), 1);
  admin.close();
});

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
