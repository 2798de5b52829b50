/** The router's logs of attempts, besides at their end: when there is a connection, and meanwhile. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const FORMAT = '%ACCESS_LOG_TYPE% %RESPONSE_CODE% %UPSTREAM_CLUSTER% %BYTES_RECEIVED%\n';

// Recorded from Envoy 1.40.0.
it('writes a line when each attempt has its host, and one now and then', async () => {
  const scratch = makeScratch();
  const path = scratch.file('upstream.log');
  const lines = (): readonly string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
  let slow: ServerResponse | undefined;
  await using upstream = await startHttpUpstream((request, response) => {
    if (request.url === '/slow') {
      slow = response;
      response.writeHead(200).write('a');
    } else if (upstream.requests.length === 1) response.writeHead(503).end();
    else response.end('ok');
  });
  const text_format_source = { inline_string: FORMAT };
  const file = {
    '@type': `${TYPE}.access_loggers.file.v3.FileAccessLog`,
    path,
    log_format: { text_format_source },
  };
  const router = {
    '@type': `${TYPE}.filters.http.router.v3.Router`,
    upstream_log: [{ name: 'file', typed_config: file }],
    upstream_log_options: {
      flush_upstream_log_on_upstream_stream: true,
      upstream_log_flush_interval: '0.2s',
    },
  };
  const route = { cluster: 'up', retry_policy: { retry_on: '5xx', num_retries: 1 } };
  const http_filters = [{ name: 'router', typed_config: router }];
  await using sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener([{ match: { prefix: '/' }, route }], { hcm: { http_filters } })],
      clusters: [staticCluster('up', [upstream.port])],
    }),
    args: ['--file-flush-interval-msec', '50'],
  });
  const port = await sluice.listenerPort('web');
  assert.equal((await fetchOnce({ port, path: '/retry' })).status, 200);
  const ofRetry = [
    'UpstreamPoolReady 0 up 0',
    'UpstreamEnd 503 up 0',
    'UpstreamPoolReady 0 up 0',
    'UpstreamEnd 200 up 2',
  ];
  await waitUntil('four lines', () => lines().length >= 4);
  assert.deepEqual(
    lines().filter((line) => !line.startsWith('UpstreamPeriodic')),
    ofRetry,
  );
  const before = lines().length;
  const asked = fetchOnce({ port, path: '/slow' });
  const periodic = (): number =>
    lines()
      .slice(before)
      .filter((line) => line === 'UpstreamPeriodic 200 up 1').length;
  await waitUntil('two lines meanwhile', () => periodic() >= 2);
  slow?.end('b');
  assert.equal((await asked).body, 'ab');
  await waitUntil('the end', () => lines().at(-1) === 'UpstreamEnd 200 up 2');
});
