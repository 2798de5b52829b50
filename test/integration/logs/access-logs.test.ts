import assert from 'node:assert/strict';
import { readFileSync, renameSync } from 'node:fs';
import { describe, it } from 'node:test';

import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startReceivingService } from '../../support/peers/services/receiving-service.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { CLOSED_PORT, startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const FILE = 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog';

function fileLog(path: string, format?: object): object {
  const log_format = format === undefined ? {} : { log_format: format };
  return { name: 'file', typed_config: { '@type': FILE, path, ...log_format } };
}

interface LogMessage {
  readonly identifier?: { readonly node: { readonly id: string }; readonly log_name: string };
  readonly http_logs?: { readonly log_entry: readonly LogEntry[] };
  readonly tcp_logs?: { readonly log_entry: readonly LogEntry[] };
}

interface LogEntry {
  readonly common_properties: Readonly<Record<string, unknown>>;
  readonly request?: Readonly<Record<string, unknown>>;
  readonly response?: Readonly<Record<string, unknown>>;
  readonly connection_properties?: object;
}

const LOG_SERVICE = {
  path: '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs',
  message: 'envoy.service.accesslog.v3.StreamAccessLogsMessage',
};

function serviceLog(type: 'Http' | 'Tcp', fields: object = {}): object {
  return {
    name: 'service',
    typed_config: {
      '@type': `type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.${type}GrpcAccessLogConfig`,
      common_config: {
        log_name: 'requests',
        transport_api_version: 'V3',
        grpc_service: { envoy_grpc: { cluster_name: 'logs' } },
        buffer_flush_interval: '0.05s',
      },
      ...fields,
    },
  };
}

function routerWithLog(log: object): object {
  const type = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';
  return {
    name: 'envoy.filters.http.router',
    typed_config: { '@type': type, upstream_log: [log] },
  };
}

function textFormat(text: string): object {
  return { text_format_source: { inline_string: text } };
}

/** Every request is answered with 200 and its log lines. */
function bootstrapWith(accessLogs: readonly object[]): object {
  const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
  return bootstrap({ listeners: [httpListener(routes, { hcm: { access_log: accessLogs } })] });
}

/** Sends pipelined requests for `/<name>/<number>` and waits for all answers. */
async function sendRequests(port: number, name: string, count: number): Promise<void> {
  const client = await openRaw(port);
  const requests = Array.from(
    { length: count },
    (_, number) => `GET /${name}/${number} HTTP/1.1\r\nhost: h\r\n\r\n`,
  );
  client.send(`${requests.join('')}GET /last HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n`);
  const received = await client.closed();
  assert.equal(received.split('HTTP/1.1 200').length - 1, count + 1);
}

function pathsOf(text: string): string[] {
  assert.ok(text === '' || text.endsWith('\n'), 'the last line is whole');
  return text.split('\n').filter((line) => line !== '' && line !== '/last');
}

describe('access logs of the whole program', () => {
  it('tell of each try at an upstream apart from the request, where the router has logs', async () => {
    using scratch = makeScratch();
    const path = scratch.file('upstream.log');
    const format =
      '%ACCESS_LOG_TYPE% %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %RESP(server)%\n';
    await using upstream = await startHttpUpstream();
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [
          httpListener(
            [
              { match: { prefix: '/dead' }, route: { cluster: 'dead' } },
              { match: { prefix: '/' }, route: { cluster: 'up' } },
            ],
            { hcm: { http_filters: [routerWithLog(fileLog(path, textFormat(format)))] } },
          ),
        ],
        clusters: [staticCluster('up', [upstream.port]), staticCluster('dead', [1])],
      }),
    });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/' })).status, 200);
    assert.equal((await fetchOnce({ port, path: '/dead' })).status, 503);
    await sluice.stop();
    assert.equal(readFileSync(path, 'utf8'), 'UpstreamEnd 200 - 5 -\nUpstreamEnd 0 UF 0 -\n');
  });

  it('try again to open a stream that finds no connection, as often as they say', async () => {
    const common_config = {
      log_name: 'again',
      grpc_service: { envoy_grpc: { cluster_name: 'logs' } },
      buffer_flush_interval: '0.05s',
      grpc_stream_retry_policy: { num_retries: 2 },
    };
    const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
    const hcm = { access_log: [serviceLog('Http', { common_config })] };
    const logs = staticCluster('logs', [CLOSED_PORT], { http2_protocol_options: {} });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [httpListener(routes, { hcm })], clusters: [logs] }),
    });
    await fetchOnce({ port: await sluice.listenerPort('web') });
    await sluice.waitForStat('cluster.logs.upstream_rq_retry', (count) => count === 2);
  });

  it('stream entries of requests and connections to a service, through a cluster of HTTP/2 that routes use too', async () => {
    await using service = await startReceivingService<LogMessage>(LOG_SERVICE);
    await using upstream = await startHttpUpstream((_, response) => response.end('hello'));
    const web = httpListener(
      [
        { name: 'direct', match: { path: '/no' }, direct_response: { status: 404 } },
        { match: { path: '/logs' }, route: { cluster: 'logs' } },
        { name: 'up', match: { prefix: '/' }, route: { cluster: 'up' } },
      ],
      {
        hcm: {
          access_log: [serviceLog('Http', { additional_request_headers_to_log: ['X-A', 'x-b'] })],
        },
      },
    );
    const tcp = {
      name: 'tcp',
      address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
      filter_chains: [
        {
          filters: [
            {
              name: 'tcp',
              typed_config: {
                '@type':
                  'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
                stat_prefix: 'tcp',
                cluster: 'up',
                access_log: [serviceLog('Tcp')],
              },
            },
          ],
        },
      ],
    };
    const logs = staticCluster('logs', [service.port], { http2_protocol_options: {} });
    await using sluice = await startSluice({
      bootstrap: bootstrap(
        { listeners: [web, tcp], clusters: [staticCluster('up', [upstream.port]), logs] },
        { node: { id: 'node-1', cluster: 'tests' } },
      ),
    });
    const port = await sluice.listenerPort('web');
    await fetchOnce({ port, path: '/found', headers: { 'x-a': '1' } });
    await fetchOnce({ port, path: '/no' });
    const refused = await fetchOnce({ port, path: '/logs' });
    // The service speaks gRPC alone.
    assert.equal(refused.status, 415);
    await fetchOnce({ port: await sluice.listenerPort('tcp'), headers: { connection: 'close' } });
    const entriesOf = (kind: 'http_logs' | 'tcp_logs'): readonly LogEntry[] =>
      service.messages.flatMap((message) => message[kind]?.log_entry ?? []);
    await waitUntil('all entries', () => {
      return entriesOf('http_logs').length === 3 && entriesOf('tcp_logs').length === 1;
    });
    const [first] = service.messages;
    assert.equal(first?.identifier?.node.id, 'node-1');
    assert.equal(first.identifier.log_name, 'requests');
    const requestFor = (path: string): LogEntry => {
      const entry = entriesOf('http_logs').find(({ request }) => request?.['path'] === path);
      assert.ok(entry);
      return entry;
    };
    const { common_properties: common, request = {}, response = {} } = requestFor('/found');
    assert.equal(common['upstream_cluster'], 'up');
    assert.equal(common['route_name'], 'up');
    assert.equal(common['access_log_type'], 'DownstreamEnd');
    assert.deepEqual(request['request_headers'], { 'x-a': '1' });
    assert.equal(response['response_code'], 200);
    assert.equal(response['response_body_bytes'], '5');
    assert.equal(requestFor('/no').response?.['response_code_details'], 'direct_response');
    const types = entriesOf('tcp_logs').map((entry) => entry.common_properties['access_log_type']);
    assert.deepEqual(types, ['TcpConnectionEnd']);
    assert.match(await sluice.stats('filter=grpc_access_log'), /flushed: 4/);
  });

  it('have one whole line per request over a rotation under load, with two workers', async () => {
    using scratch = makeScratch();
    const path = scratch.file('access.log');
    const run = { concurrency: 2, args: ['--file-flush-min-size-kb', '1'] };
    const logs = bootstrapWith([fileLog(path, textFormat('%REQ(:PATH)%\n'))]);
    await using sluice = await startSluice({ ...run, bootstrap: logs });
    const port = await sluice.listenerPort('web');
    const clients = ['a', 'b', 'c', 'd'];
    const load = Promise.all(clients.map((name) => sendRequests(port, name, 1000)));
    await waitUntil('the first lines', () => readFileSync(path).length > 0 || undefined);
    renameSync(path, `${path}.1`);
    sluice.signal('SIGUSR1');
    await load;
    await waitUntil('the new file', () => tryRead(path));
    await Promise.all(clients.map((name) => sendRequests(port, `${name}2`, 100)));
    await sluice.stop();
    const lines = [...pathsOf(tryRead(`${path}.1`) ?? ''), ...pathsOf(tryRead(path) ?? '')];
    const expected = clients.flatMap((name) => [
      ...Array.from({ length: 1000 }, (_, number) => `/${name}/${number}`),
      ...Array.from({ length: 100 }, (_, number) => `/${name}2/${number}`),
    ]);
    assert.deepEqual(lines.sort(), expected.sort());
  });

  it('write the first line at once and the rest when the interval is over', async () => {
    using scratch = makeScratch();
    const path = scratch.file('access.log');
    await using sluice = await startSluice({
      args: ['--file-flush-interval-msec', '600'],
      bootstrap: bootstrapWith([fileLog(path, textFormat('%REQ(:PATH)%\n'))]),
    });
    const port = await sluice.listenerPort('web');
    await sendRequests(port, 'a', 5);
    await waitUntil(
      'the first line',
      () => readFileSync(path, 'utf8').startsWith('/a/0\n') || undefined,
    );
    await waitUntil('the rest', () => readFileSync(path, 'utf8').endsWith('/last\n') || undefined);
    await sluice.waitForStat('filesystem.write_total_buffered', (bytes) => bytes === 0);
    const lines = await sluice.stat('filesystem.write_buffered');
    const writes = await sluice.stat('filesystem.write_completed');
    assert.ok(lines >= 6);
    assert.ok(writes >= 2 && writes < lines, `${writes} writes of ${lines} lines`);
  });

  it('mean the inherited descriptor by /dev/stdout, and tear no line in a pipe', async () => {
    const line = `%REQ(:PATH)% ${'x'.repeat(1500)}\n`;
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrapWith([fileLog('/dev/stdout', textFormat(line))]),
    });
    const port = await sluice.listenerPort('web');
    await Promise.all(['a', 'b', 'c'].map((name) => sendRequests(port, name, 300)));
    const linesSeen = (): readonly string[] => sluice.stdout().split('\n').slice(0, -1);
    // A worker that is told to end is given two seconds, which a machine with much else to do may need for less.
    await waitUntil('the lines', () => linesSeen().length >= 3 * 301);
    await sluice.stop();
    const lines = linesSeen();
    assert.equal(lines.length, 3 * 301);
    assert.ok(lines.every((text) => /^\/\S+ x{1500}$/.test(text)));
  });

  it('print the default format and JSON as Envoy does', async () => {
    using scratch = makeScratch();
    const text = scratch.file('text.log');
    const json = scratch.file('json.log');
    const fields = { code: '%RESPONSE_CODE%', path: '%REQ(:PATH)%', none: '%REQ(x-none)%' };
    await using sluice = await startSluice({
      bootstrap: bootstrapWith([fileLog(text), fileLog(json, { json_format: fields })]),
    });
    await sendRequests(await sluice.listenerPort('web'), 'a', 1);
    await sluice.stop();
    const [first = ''] = readFileSync(text, 'utf8').split('\n');
    assert.match(
      first,
      /^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] "GET \/a\/0 HTTP\/1\.1" 200 - 0 0 \d+ - "-" "-" "[0-9a-f-]{36}" "h" "-"$/,
    );
    assert.equal(
      readFileSync(json, 'utf8').split('\n')[0],
      '{"code":200,"none":null,"path":"/a/0"}',
    );
  });
});

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
