/** The admin's own access log. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { compileAdminLogFilter } from '../../../../supervisor/admin/access-log/admin-log-filter.ts';
import { localAddress } from '../../../../shared/addresses/local-address.ts';
import { startAdmin } from '../../../../supervisor/admin/start-admin.ts';
import type { LineLogConfig } from '../../../../shared/resources/access-loggers/lines.ts';
import type { AccessLogFilter } from '../../../../shared/resources/access-log.ts';
import { fakeContext } from './fake-context.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-admin-log-'));
after(() => rmSync(folder, { recursive: true }));
const ADDRESS = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 } as const;
const DEFAULT_FORMAT =
  '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% ' +
  '%RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% ' +
  '"%REQ(X-FORWARDED-FOR)%" "%REQUEST_HEADER(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" ' +
  '"%UPSTREAM_HOST%"\n';

function logTo(name: string, fields: Partial<LineLogConfig> = {}): LineLogConfig {
  return {
    kind: 'lines',
    sink: { kind: 'file', path: join(folder, name) },
    format: { kind: 'text', format: DEFAULT_FORMAT, omitEmptyValues: false },
    ...fields,
  };
}

async function start(accessLogs: readonly LineLogConfig[]) {
  const admin = await startAdmin(fakeContext().context, {
    addresses: [{ address: ADDRESS }],
    accessLogs,
  });
  const [bound] = admin.addresses;
  assert.ok(bound?.kind === 'ip');
  return { admin, port: bound.port };
}

async function send(port: number, bytes: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write(bytes));
    socket.on('close', () => resolve());
    socket.resume();
  });
}

const request = (line: string, rest = '') =>
  `${line} HTTP/1.1\r\nhost: admin.test\r\nuser-agent: t\r\nconnection: close\r\n${rest}\r\n`;

test('each request leaves the line that Envoy writes', async () => {
  const { admin, port } = await start([logTo('lines')]);
  await send(port, request('GET //ready?x'));
  await send(port, `${request('POST /help', 'content-length: 3\r\n')}abc`);
  await send(port, 'GET /ready HTTP/2.0\r\n\r\n');
  admin.close();
  const lines = readFileSync(join(folder, 'lines'), 'utf8')
    .replaceAll(`"${localAddress('v4')}"`, '"127.0.0.1"')
    .replaceAll(/\[[^\]]*\]/g, '[time]')
    .replaceAll(/ \d+ - "/g, ' ms - "')
    .replace(/0 \d{4,} ms/, '0 size ms')
    .replace(/3 \d{4,} ms/, '3 size ms');
  assert.equal(
    lines,
    '[time] "GET /ready?x HTTP/1.1" 200 - 0 5 ms - "127.0.0.1" "t" "-" "admin.test" "-"\n' +
      '[time] "POST /help HTTP/1.1" 200 - 3 size ms - "127.0.0.1" "t" "-" "admin.test" "-"\n' +
      '[time] "- - HTTP/1.1" 426 DPE 0 16 ms - "-" "-" "-" "-" "-"\n',
  );
});

test('the log goes on in a new file after it was reopened', async () => {
  const { admin, port } = await start([logTo('moved')]);
  await send(port, request('GET /ready'));
  renameSync(join(folder, 'moved'), join(folder, 'moved.1'));
  admin.reopenLogs();
  await send(port, request('GET /help'));
  admin.close();
  assert.match(readFileSync(join(folder, 'moved.1'), 'utf8'), /GET \/ready/);
  assert.match(readFileSync(join(folder, 'moved'), 'utf8'), /GET \/help/);
});

test('filters by status and duration narrow the log', async () => {
  const filter = {
    kind: 'or',
    filters: [
      { kind: 'status_code', op: 'GE', value: 400 },
      { kind: 'duration', op: 'GE', value: 60_000 },
    ],
  } as const;
  const { admin, port } = await start([logTo('filtered', { filter })]);
  await send(port, request('GET /ready'));
  await send(port, request('GET /nosuch'));
  admin.close();
  const lines = readFileSync(join(folder, 'filtered'), 'utf8');
  assert.match(lines, /GET \/nosuch/);
  assert.doesNotMatch(lines, /GET \/ready/);
});

test('lines of JSON keep the types of what the admin knows; what it does not is null or left out', async () => {
  const fields = {
    status: '%RESPONSE_CODE%',
    asked: { line: '%REQ(:METHOD)% %REQ(X-NONE?:PATH):4%', unit: '%START_TIME(%s)%' },
    details: '%RESPONSE_CODE_DETAILS%',
    upstream: '%UPSTREAM_HOST%',
    id: '%CONNECTION_ID%',
    first: '%COALESCE({"operators": ["UPSTREAM_HOST", "PROTOCOL"]})%',
  };
  const json = (omitEmptyValues: boolean) =>
    ({ kind: 'json', fields, omitEmptyValues, sortProperties: true }) as const;
  const { admin, port } = await start([
    logTo('json', { format: json(false) }),
    logTo('omit', { format: json(true) }),
  ]);
  await send(port, request('GET /ready'));
  await send(port, 'garbage\r\n\r\n');
  admin.close();
  const read = (name: string) =>
    readFileSync(join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line.replace(/"unit":"\d{10}"/, '"unit":"s"')) as object);
  const known = { details: 'admin_filter_response', first: 'HTTP/1.1', id: 0, status: 200 };
  const asked = { line: 'GET /rea', unit: 's' };
  const refused = { details: 'http1.codec_error', first: 'HTTP/1.1', id: 1, status: 400 };
  assert.deepEqual(read('json'), [
    { ...known, asked, upstream: null },
    { ...refused, asked: { line: '- -', unit: 's' }, upstream: null },
  ]);
  assert.deepEqual(read('omit'), [
    { ...known, asked },
    { ...refused, asked: { line: ' ', unit: 's' } },
  ]);
});

const share = (numerator: number): AccessLogFilter => ({
  kind: 'runtime',
  fraction: { runtimeKey: 'share', numerator, denominator: 100 },
  useIndependentRandomness: false,
});
const header = (name: string, value: string): AccessLogFilter => ({
  kind: 'header',
  header: {
    name,
    invert: false,
    treatMissingAsEmpty: false,
    match: { kind: 'string', matcher: { kind: 'exact', value, ignoreCase: false } },
  },
});
const logType = (types: readonly string[], exclude = false): AccessLogFilter => ({
  kind: 'log_type',
  types,
  exclude,
});
const grpc = (statuses: readonly number[], exclude = false): AccessLogFilter => ({
  kind: 'grpc_status',
  statuses,
  exclude,
});
const slow: AccessLogFilter = { kind: 'duration', op: 'GE', value: 9, runtimeKey: 'slow' };

/**
 * Filters and their verdicts on one request whose id draws 32 of 100, with `slow` at 3 in the
 * runtime.
 */
const FILTERS: readonly (readonly [name: string, filter: AccessLogFilter, isLogged: boolean])[] = [
  ['a header', header('x-asked', 'yes'), true],
  ['a header with another value', header('x-asked', 'no'), false],
  ['a missing header', header('x-none', 'yes'), false],
  ['the path', header(':path', '/ready?x'), true],
  ['the host', header(':authority', 'admin.test'), true],
  ['a share above the one of the id', share(33), true],
  ['a share up to the one of the id', share(32), false],
  ['the type of a line at the end', logType(['DownstreamEnd']), true],
  ['another type', logType(['DownstreamStart']), false],
  ['all types but that of a line at the end', logType(['DownstreamEnd'], true), false],
  ['what the HTTP status is to gRPC', grpc([12]), true],
  ['another status of gRPC', grpc([0]), false],
  ['all statuses of gRPC but one', grpc([0], true), true],
  ['a duration above the one of the runtime', slow, true],
  ['what is traced', { kind: 'traceable' }, false],
  ['what is no health check', { kind: 'not_health_check' }, true],
  ['a response flag', { kind: 'response_flag', flags: ['DC'] }, false],
];

test('every kind of filter judges by what is known of the request and by the runtime', () => {
  const entry = {
    startMs: 0,
    protocol: 'HTTP/1.1' as const,
    durationMs: 5,
    method: 'GET',
    path: '/ready?x',
    status: 404,
    flags: '-',
    bytesReceived: 0,
    bytesSent: 0,
    // 32 when divided by 100.
    headers: { host: 'admin.test', 'x-asked': 'yes', 'x-request-id': '00000020-0000-4000-8000-0' },
    remoteAddress: '127.0.0.1',
    remotePort: 1,
    localAddress: '127.0.0.1',
    localPort: 2,
    connectionId: 0,
  };
  const runtime = new Map([['slow', { text: '3', number: 3 }]]);
  for (const [name, filter, isLogged] of FILTERS) {
    assert.equal(compileAdminLogFilter(filter, () => runtime)(entry), isLogged, name);
  }
  const changed = new Map([['share', { text: '100', number: 100 }]]);
  assert.ok(compileAdminLogFilter(share(0), () => changed)(entry));
});
