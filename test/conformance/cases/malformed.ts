import { proxyTo } from '../../support/parts/bootstrap.ts';
import type { ConformanceCase, Question } from '../case.ts';

const raw = (label: string, send: string): Question => ({
  kind: 'raw',
  label,
  listener: 'web',
  send,
});

const close = 'Connection: close\r\n';

export const malformed: ConformanceCase = {
  name: 'malformed',
  title: 'Requests that are refused, and how',
  bootstrap: (upstreamPort) => proxyTo(upstreamPort, { hcm: { delayed_close_timeout: '0.1s' } }),
  questions: [
    raw('a good request', `GET / HTTP/1.1\r\nHost: a.test\r\n${close}\r\n`),
    raw('no request line', 'NONSENSE\r\n\r\n'),
    raw('no host', 'GET / HTTP/1.1\r\n\r\n'),
    raw('a header without a colon', 'GET / HTTP/1.1\r\nHost: a.test\r\nbad header\r\n\r\n'),
    raw('a space in a name', 'GET / HTTP/1.1\r\nHost: a.test\r\nbad name: x\r\n\r\n'),
    raw('NUL in a value', 'GET / HTTP/1.1\r\nHost: a.test\r\nx: a\0b\r\n\r\n'),
    raw(
      'two different lengths',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
    ),
    raw(
      'a length and chunked',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ),
    raw('an unknown coding', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n'),
    raw(
      'a bad chunk size',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n',
    ),
    raw('a bad length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: abc\r\n\r\n'),
    raw('headers too large', `GET / HTTP/1.1\r\nHost: a\r\nx: ${'b'.repeat(70_000)}\r\n\r\n`),
    raw('too many headers', `GET / HTTP/1.1\r\nHost: a\r\n${'x: 1\r\n'.repeat(101)}\r\n`),
    raw('HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'),
    raw('HTTP/0.9', 'GET / HTTP/0.9\r\n\r\n'),
    raw('HTTP/2.0 in the request line', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'),
    raw('CONNECT', `CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n${close}\r\n`),
    raw(
      'an upgrade that is not enabled',
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    ),
    {
      kind: 'admin',
      label: 'counted',
      path: '/stats?filter=^http.web.*(protocol_error|rq_[45]xx|rq_total)$',
    },
  ],
};
