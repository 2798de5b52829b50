/**
 * Floods of HTTP/2, several connections of each at once: each is ended or goes on, and is counted, as
 * measured with Envoy; nothing of them is left, and a client beside them is answered all the while.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackTurns } from '../../support/attack.ts';
import { type RunningDataPlane, startDataPlane } from '../../support/parts/data-plane.ts';
import { floodOnce, HTTP2_FLOODS } from '../../support/peers/hostile/http2-floods.ts';
import { openHttp2 } from '../../support/peers/http2-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import { ErrorCode } from '../../../workers/http2/frames.ts';

const AT_ONCE = 3;
const BIG = 'x'.repeat(10_240);

interface Expected {
  readonly isEnded: boolean;
  readonly goaway?: number;
  /** Each goes up by one for each connection. */
  readonly counters: readonly string[];
}

const ended = (...counters: readonly string[]): Expected => ({ isEnded: true, counters });

/** Envoy ends most floods without GOAWAY: who floods is not waited for. */
const EXPECTED: ReadonlyMap<string, Expected> = new Map([
  [
    'rapid reset',
    ended(
      'http.web.downstream_rq_too_many_premature_resets',
      'http.web.downstream_cx_protocol_error',
    ),
  ],
  ['CONTINUATION, empty', ended('http2.inbound_empty_frames_flood')],
  [
    'CONTINUATION, full',
    {
      ...ended('http.web.downstream_cx_protocol_error', 'http2.header_list_size_too_large'),
      goaway: ErrorCode.enhanceYourCalm,
    },
  ],
  ['SETTINGS', ended('http2.outbound_control_flood')],
  ['PING', ended('http2.outbound_control_flood')],
  ['empty DATA', ended('http2.inbound_empty_frames_flood')],
  ['window of one', { isEnded: false, counters: [] }],
  ['WINDOW_UPDATE', ended('http2.inbound_window_update_frames_flood')],
  ['PRIORITY', ended('http2.inbound_priority_frames_flood')],
  ['HPACK bomb', { isEnded: false, counters: ['http2.header_list_size_too_large'] }],
  ['thrashing table', { isEnded: false, counters: [] }],
]);

const OPEN_GAUGES = [
  'http.web.downstream_rq_active',
  'http2.streams_active',
  'http2.pending_send_bytes',
  'http2.outbound_frames_active',
  'http2.outbound_control_frames_active',
  'cluster.up.upstream_rq_active',
  'cluster.up.upstream_rq_pending_active',
];

function values(plane: RunningDataPlane, names: readonly string[]): readonly number[] {
  const stats = plane.stats();
  return names.map((name) => stats.get(name) ?? 0);
}

describe('a flood of HTTP/2', () => {
  for (const flood of HTTP2_FLOODS) {
    it(`is held to its limit, counted, and leaves nothing: ${flood.title}`, async () => {
      const expected = EXPECTED.get(flood.title) ?? ended();
      await using upstream = await startHttpUpstream((request, response) =>
        request.resume().on('end', () => response.end(request.url === '/big' ? BIG : 'answer')),
      );
      await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
      await using calm = await openHttp2(plane.port);
      let connections = 0;
      for (const _ of attackTurns(1, 200)) {
        const floods = Array.from({ length: AT_ONCE }, () => floodOnce(plane.port, flood));
        assert.equal((await calm.ask({ ':path': '/' })).body, 'answer');
        for (const end of await Promise.all(floods)) {
          connections++;
          assert.equal(end.isEnded, expected.isEnded);
          if (expected.goaway !== undefined) assert.equal(end.goaway, expected.goaway);
          if (!expected.isEnded) assert.equal(end.answers, flood.answers ?? 0);
        }
      }
      await waitUntil('what was open to be gone', () =>
        values(plane, OPEN_GAUGES).every((value) => value === 0),
      );
      assert.deepEqual(
        values(plane, expected.counters),
        expected.counters.map(() => connections),
      );
      await waitUntil(
        'the calm connection alone',
        () => plane.stats().get('http.web.downstream_cx_active') === 1,
      );
      assert.equal((await calm.ask({ ':path': '/' })).body, 'answer');
    });
  }
});
