/** HTTP/2 with prior knowledge on the admin listener: the same answers, limits and checks. */
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { connect } from 'node:http2';
import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { createConnection } from 'node:net';
import { after, test } from 'node:test';
import type { AdminContext } from '../../../../supervisor/admin/admin-context.ts';
import { ADMIN_LIMITS } from '../../../../supervisor/admin/http/admin-limits.ts';
import type { AdminLimits } from '../../../../supervisor/admin/http/admin-limits.ts';
import { startAdmin } from '../../../../supervisor/admin/start-admin.ts';
import { HTTP_CONNECTION_MANAGER } from '../../../../shared/stats/templates/http-connection-manager.ts';
import { waitUntil } from '../../../support/wait.ts';
import { fakeContext } from './fake-context.ts';
import { recordingWriter } from './recording-writer.ts';

const LOOPBACK = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 } as const;
const closing: (() => void)[] = [];
after(() => {
  for (const close of closing) close();
});

async function start(overrides: Partial<AdminContext> = {}, limits: Partial<AdminLimits> = {}) {
  const fake = fakeContext(overrides);
  const admin = await startAdmin(fake.context, {
    addresses: [{ address: LOOPBACK }],
    limits: { ...ADMIN_LIMITS, ...limits },
  });
  const [bound] = admin.addresses;
  assert.ok(bound?.kind === 'ip');
  const session = connect(`http://127.0.0.1:${bound.port}`);
  session.on('error', () => undefined);
  closing.push(() => {
    session.destroy();
    admin.close();
  });
  return { ...fake, session, port: bound.port };
}

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body = '',
): Promise<Answer> {
  const stream = session.request({ ':authority': 'a', ...headers }, { endStream: body === '' });
  if (body !== '') stream.end(body);
  stream.setEncoding('latin1');
  return await new Promise((resolve, reject) => {
    let answered: IncomingHttpHeaders = {};
    let text = '';
    stream.on('response', (given) => (answered = given));
    stream.on('data', (piece: string) => (text += piece));
    stream.on('end', () => resolve({ headers: answered, body: text }));
    stream.on('error', reject);
  });
}

test('an answer over HTTP/2 carries the headers that it has over HTTP/1.1', async () => {
  const { session } = await start();
  const { headers, body } = await ask(session, { ':path': '/ready' });
  assert.equal(body, 'LIVE\n');
  const { date: _date, ...others } = headers;
  assert.deepEqual(Object.fromEntries(Object.entries(others)), {
    ':status': 200,
    'content-type': 'text/plain; charset=UTF-8',
    'cache-control': 'no-cache, max-age=0',
    'x-content-type-options': 'nosniff',
    server: 'sluice',
  });
});

test('HEAD over HTTP/2 gets no body, and form bodies are parameters', async () => {
  const { session } = await start();
  const head = await ask(session, { ':path': '/help', ':method': 'HEAD' });
  assert.deepEqual([head.headers[':status'], head.body], [200, '']);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const path = { ':path': '/runtime_modify', ':method': 'POST' };
  assert.equal((await ask(session, { ...path, ...form }, 'a=b')).headers[':status'], 200);
  assert.equal((await ask(session, { ...path, ...form })).headers[':status'], 400);
});

test('rules about methods, origins and targets hold over HTTP/2', async () => {
  const { session, log } = await start();
  const cases: readonly (readonly [OutgoingHttpHeaders, number])[] = [
    [{ ':path': '/reopen_logs' }, 400],
    [{ ':path': '/reopen_logs', ':method': 'POST', origin: 'http://evil.test' }, 403],
    [{ ':path': '/reopen_logs', ':method': 'POST' }, 200],
    [{ ':path': '/nosuch' }, 404],
    [{ ':path': '*', ':method': 'OPTIONS' }, 404],
    [{ ':path': '/ready%00' }, 400],
  ];
  for (const [headers, status] of cases) {
    const answer = await ask(session, headers);
    assert.equal(answer.headers[':status'], status, JSON.stringify(headers));
  }
  const audited = log.filter((line) => line.includes('admin command: POST /reopen_logs'));
  assert.equal(audited.length, 2);
});

test('a body beyond the limit gets 413, and the connection serves on', async () => {
  const { session } = await start({}, { bodyBytes: 100 });
  const post = { ':path': '/reopen_logs', ':method': 'POST' };
  assert.equal((await ask(session, post, 'x'.repeat(101))).headers[':status'], 413);
  assert.equal((await ask(session, post, 'x'.repeat(100))).headers[':status'], 200);
});

test('a stream whose client stops reading is ended after the limit, others go on', async () => {
  const state = { pulled: 0 };
  function* endless(): Generator<string> {
    for (;;) {
      state.pulled++;
      yield 'x'.repeat(64 * 1024);
    }
  }
  const writer = recordingWriter();
  const stats: AdminContext['stats'] = {
    read: async () => await Promise.resolve({ status: 200, body: endless() }),
    recentLookups: () => ({ status: 200, body: '' }),
    resetCounters: async () => await Promise.resolve(),
  };
  const { session } = await start({ stats, statWriter: writer }, { stalledReaderMs: 150 });
  const stalled = session.request({ ':path': '/stats', ':authority': 'a' });
  stalled.on('error', () => undefined);
  const counter = () => writer.named.get('sluice.admin.stalled_readers_closed') ?? -1;
  await waitUntil('the end of the stream', () => writer.valueOf(counter()) === 1);
  assert.ok(state.pulled > 0 && state.pulled < 100, `pulled ${state.pulled} pieces`);
  assert.equal((await ask(session, { ':path': '/ready' })).body, 'LIVE\n');
});

test('a connection that the library gave up without closing it is closed', async () => {
  const { port } = await start({}, { stalledReaderMs: 60 });
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  const settings = '\x00\x00\x00\x04\x00\x00\x00\x00\x00';
  const dataOfNoStream = '\x00\x00\x01\x00\x00\x00\x00\x00\x03x';
  const socket = createConnection({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.on('data', () => undefined);
  socket.write(preface + settings + dataOfNoStream, 'latin1');
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
});

test('a connection that answers is kept', async () => {
  const { session } = await start({}, { stalledReaderMs: 150 });
  await ask(session, { ':path': '/ready' });
  await new Promise((resolve) => setTimeout(resolve, 450));
  assert.equal((await ask(session, { ':path': '/ready' })).body, 'LIVE\n');
});

test('connections are counted by their version of HTTP, from their first bytes to their end', async () => {
  const writer = recordingWriter();
  const { session } = await start({ statWriter: writer });
  await ask(session, { ':path': '/ready' });
  const base = writer.named.get('http.admin.') ?? -1;
  const { index } = HTTP_CONNECTION_MANAGER;
  const value = (name: keyof typeof index): number => writer.valueOf(base + index[name]);
  assert.equal(value('downstream_cx_http2_active'), 1);
  assert.equal(value('downstream_cx_http1_total'), 0);
  assert.equal(value('downstream_rq_http2_total'), 1);
  session.destroy();
  await waitUntil('the end', () => value('downstream_cx_http2_active') === 0);
  assert.equal(value('downstream_cx_http2_total'), 1);
});

test('a session that ends leaves no timer behind that would keep it', async () => {
  const idleMs = 54_321;
  const timers: { readonly _idleTimeout?: number; readonly _destroyed?: boolean }[] = [];
  const hook = createHook({
    init: (_id, type, _trigger, resource) => void (type === 'Timeout' && timers.push(resource)),
  }).enable();
  const { session } = await start({}, { idleMs });
  await ask(session, { ':path': '/ready' });
  hook.disable();
  const ofSession = timers.filter((timer) => timer._idleTimeout === idleMs);
  assert.ok(ofSession.length > 0);
  session.destroy();
  await waitUntil('the end', () => ofSession.every((timer) => timer._destroyed === true));
});

test('a session that has had no stream for a while is closed', async () => {
  const { session } = await start({}, { idleMs: 50 });
  await ask(session, { ':path': '/ready' });
  await waitUntil('the end', () => session.closed || session.destroyed);
});
