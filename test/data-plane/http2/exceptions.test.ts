/** Code that throws for one HTTP/2 stream ends that stream, and neither others nor the connection. */
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { prefix, route, toCluster } from '../../support/parts/routes.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openHttp2 } from '../../support/peers/http2-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import { HttpStream } from '../../../workers/manager/stream.ts';
import { RouterFilter } from '../../../workers/router/router-filter.ts';

const INTERNAL_ERROR = 2;
const METHODS = [
  ['a request begins', RouterFilter.prototype, 'decodeHeaders', { status: 500, code: 0 }],
  ['a body comes', RouterFilter.prototype, 'decodeData', { status: 500, code: 0 }],
  ['an answer comes', RouterFilter.prototype, 'onHeaders', { status: 500, code: 0 }],
  ['a body goes out', HttpStream.prototype, 'writeData', { status: 200, code: INTERNAL_ERROR }],
] as const;

describe('an exception while one HTTP/2 stream is worked for', () => {
  for (const [when, prototype, name, { status, code }] of METHODS) {
    it(`ends that stream alone: ${when}`, async () => {
      const noted: unknown[] = [];
      let isHeld = false;
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await using upstream = await startHttpUpstream((request, response) => {
        const answer = (): void => void response.end('hello');
        if (request.url === '/held') {
          isHeld = true;
          void held.then(answer);
        } else request.resume().on('end', answer);
      });
      await using plane = await startDataPlane({
        upstreamPorts: [upstream.port],
        routes: [route(prefix('/'), toCluster())],
        exceptions: { note: (error) => void noted.push(error) },
      });
      await using client = await openHttp2(plane.port);
      const sibling = client.ask({ ':path': '/held' });
      await waitUntil('the sibling', () => isHeld);
      const thrown = mock.method(prototype, name as never, () => {
        thrown.mock.restore();
        throw new Error('injected');
      });
      const failed = await client.ask({ ':path': '/', ':method': 'POST' }, 'body');
      assert.equal(failed.status, status);
      assert.equal(failed.code, code);
      release();
      assert.equal((await sibling).body, 'hello');
      const next = await client.ask({ ':path': '/', ':method': 'POST' }, 'body');
      assert.equal(next.body, 'hello');
      assert.equal(noted.length, 1);
      const stats = plane.stats();
      assert.equal(stats.get('http.web.downstream_cx_total'), 1);
      assert.equal(stats.get('http2.streams_active'), 0);
    });
  }
});
