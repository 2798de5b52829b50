/** What of HTTP/2 messages passes to the other side as it came, and what the access log says. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import type { AddressInfo } from 'node:net';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { tlsSocket } from '../../support/parts/tls.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import {
  frame,
  headerBlock,
  SETTINGS,
  startHttp2Upstream,
  startRawHttp2Upstream,
} from '../../support/peers/http2.ts';
import { headersFrame, openFrames, type Fields } from '../../support/peers/http2-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { echo, protocol, proxyToHttp2 } from '../../support/programs/http2-upstreams.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';
import { ErrorCode, resetFrame } from '../../../workers/http2/frames.ts';

describe('a request of an HTTP/2 client', () => {
  it('keeps the order of its pseudo headers, and a host stands for the authority', async () => {
    await using upstream = await startHttp2Upstream(echo);
    await using sluice = await proxyToHttp2(upstream.port);
    const client = await openFrames(sluice.port);
    const target: Fields = [
      [':path', '/'],
      [':scheme', 'http'],
      [':method', 'GET'],
    ];
    const orders: readonly Fields[] = [
      [[':authority', 'a.test'], ...target],
      [...target, [':authority', 'a.test']],
      [...target, ['x-a', '1'], ['host', 'a.test']],
    ];
    client.send(orders.map((fields, at) => headersFrame(1 + 2 * at, fields)).join(''));
    await waitUntil('all', () => upstream.requests.length === orders.length);
    client.destroy();
    const seen = upstream.requests.map((fields) =>
      fields.filter((name, at) => at % 2 === 0 && name.startsWith(':')).join(' '),
    );
    assert.deepEqual(seen.toSorted(), [
      ':authority :path :scheme :method',
      ':path :scheme :method :authority',
      ':path :scheme :method :authority',
    ]);
  });
});

describe('informational answers of a host', () => {
  for (const [statuses, passed] of [
    [['103'], ['103']],
    [['100', '103'], ['100']],
    [['103', '103', '102'], ['103']],
    [['150', '103'], ['103']],
    [['199'], []],
  ] as const) {
    it(`pass where they are the first of a known kind: ${statuses.join(', ')}`, async () => {
      await using upstream = await startRawHttp2Upstream((host, { type, stream }) => {
        if (type === 4 && host.frames.length === 1) host.send(SETTINGS);
        if (type !== 1) return;
        for (const status of statuses) {
          host.send(frame(1, 4, stream, headerBlock([[':status', status]])));
        }
        host.send(frame(1, 5, stream, headerBlock([[':status', '204']])));
      });
      await using sluice = await proxyToHttp2(upstream.port, { hcm: { proxy_100_continue: true } });
      const client = await openRaw(sluice.port);
      client.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
      const text = await client.until((each) => each.includes(' 204 '));
      client.destroy();
      const seen = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
      assert.deepEqual(seen, [...passed, '204']);
    });
  }
});

describe('the reset of an HTTP/2 client', () => {
  it('is named by its code, and not at all where a whole request ends in good order', async () => {
    using scratch = makeScratch();
    const path = scratch.file('access.log');
    const logger = {
      name: 'envoy.access_loggers.file',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog',
        path,
        log_format: {
          text_format_source: { inline_string: '%REQ(:PATH)% %RESPONSE_CODE_DETAILS%\n' },
        },
      },
    };
    await using upstream = await startHttp2Upstream(() => undefined);
    await using sluice = await proxyToHttp2(upstream.port, { hcm: { access_log: [logger] } });
    const cases = [
      [ErrorCode.noError, 1, '-'],
      [ErrorCode.noError, 0, 'http2.remote_reset'],
      [ErrorCode.cancel, 1, 'http2.remote_reset'],
      [ErrorCode.refusedStream, 1, 'http2.remote_refuse'],
    ] as const;
    for (const [at, [code, endStream]] of cases.entries()) {
      const client = await openFrames(sluice.port);
      const fields: Fields = [
        [':method', 'POST'],
        [':scheme', 'http'],
        [':authority', 'h'],
        [':path', `/${at}`],
      ];
      client.send(headersFrame(1, fields, endStream));
      await waitUntil('the request', () => upstream.requests.length === at + 1);
      client.send(resetFrame(1, code));
      await sluice.waitForStat('http.web.downstream_rq_rx_reset', (count) => count === at + 1);
      client.destroy();
    }
    const lines = await waitUntil('the log', () => {
      const all = readFileSync(path, 'utf8').trim().split('\n');
      return all.length === cases.length ? all : undefined;
    });
    assert.deepEqual(
      lines,
      cases.map(([, , details], at) => `/${at} ${details}`),
    );
  });
});

describe('HTTP/1 over TLS to hosts', () => {
  it('names http/1.1 as its protocol', async () => {
    using scratch = makeScratch();
    const { cert, key } = makeAuthority(scratch.path).issue('h', 'DNS:h.test');
    const chosen: (string | false | null)[] = [];
    const server = tls.createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      chosen.push(socket.alpnProtocol);
      socket.on('data', () => socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const cluster = {
      ...protocol({ explicit_http_config: { http_protocol_options: {} } }),
      transport_socket: tlsSocket('Upstream', {}),
    };
    await using sluice = await proxyToHttp2(port, { cluster });
    assert.equal((await fetchOnce({ port: sluice.port })).status, 204);
    assert.deepEqual(chosen, ['http/1.1']);
    server.close();
  });
});
