/**
 * Requests of HTTP/2 towards a host of HTTP/1 that records every byte: what arrives is one message
 * that says what was asked, or nothing that anybody could take for a whole one, and no byte of
 * another request ever follows on the same connection.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackRandom, attackRuns } from '../support/attack.ts';
import { type RunningDataPlane, startDataPlane } from '../support/parts/data-plane.ts';
import { HTTP2_OPTIONS } from '../support/parts/http2-options.ts';
import { readStrictly, type StrictMessage, valuesOf } from '../support/parts/strict-message.ts';
import {
  type DowngradeCase,
  HIDDEN,
  ODD_DOWNGRADES,
  REFUSED_DOWNGRADES,
} from '../support/parts/downgrade-corpus.ts';
import { dataFrame, framesOf, headersFrame, PREFACE } from '../support/peers/http2-client.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { type RawUpstream, startRawUpstream } from '../support/peers/upstream.ts';
import { waitUntil } from '../support/wait.ts';
import { Flag, FrameType } from '../../workers/http2/frames.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

interface Sides {
  readonly upstream: RawUpstream;
  readonly plane: RunningDataPlane;
  /** Bytes of each connection that were looked at before. */
  readonly seen: number[];
  /** Connections on which a message was left unfinished. */
  readonly broken: Set<number>;
}

async function withSides(
  endsStreamOnInvalidMessage: boolean,
  use: (sides: Sides) => Promise<void>,
): Promise<void> {
  await using upstream = await startRawUpstream((socket, received) => {
    let answered = 0;
    socket.on('data', () => {
      const whole = countWhole(received());
      for (; answered < whole; answered++) socket.write(OK);
    });
  });
  await using plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    manager: {
      delayedCloseTimeoutMs: 1,
      http2: { ...HTTP2_OPTIONS, endsStreamOnInvalidMessage },
    },
  });
  await use({ upstream, plane, seen: [], broken: new Set() });
}

/** Messages in the bytes, as far as they are whole. */
function countWhole(bytes: string): number {
  const ends = Array.from(bytes.matchAll(/\r\n\r\n/g), ({ index }) => index + 4);
  for (const end of [bytes.length, ...ends.toReversed()]) {
    try {
      return readStrictly(bytes.slice(0, end), 'request').length;
    } catch {
      continue; // a shorter part may be whole
    }
  }
  return 0;
}

/** The status that the client got, 0 for a reset or an end. */
async function ask({ plane }: Sides, { fields, data, trailers }: DowngradeCase): Promise<number> {
  const client = await openRaw(plane.port);
  const isWhole = data === undefined && trailers === undefined;
  const last = (data ?? []).length - 1;
  client.send(
    [
      PREFACE,
      headersFrame(1, fields, isWhole ? Flag.endStream : 0),
      ...(data ?? []).map((text, at) =>
        dataFrame(1, text, at === last && trailers === undefined ? Flag.endStream : 0),
      ),
      ...(trailers === undefined ? [] : [headersFrame(1, trailers, Flag.endStream)]),
    ].join(''),
  );
  const isOver = (text: string): boolean =>
    framesOf(text).some(
      ({ type, flags, stream }) =>
        type === FrameType.goaway ||
        (stream === 1 && type === FrameType.rstStream) ||
        (stream === 1 && (flags & Flag.endStream) !== 0),
    );
  const text = await Promise.race([client.until(isOver), client.closed()]).catch(() =>
    client.received(),
  );
  client.destroy();
  return framesOf(text).some(({ type, payload }) => type === 1 && isOk(payload)) ? 200 : 0;
}

/** `:status: 200` is number 8 of the static table. */
function isOk(block: Buffer): boolean {
  return block.includes(0x88);
}

/** What has arrived since the last look, by connection. */
function arrived({ upstream, seen, broken }: Sides): readonly string[] {
  return upstream.received.flatMap((text, at) => {
    const fresh = text.slice(seen[at] ?? 0);
    seen[at] = text.length;
    if (fresh === '') return [];
    assert.ok(!broken.has(at), 'a connection was used again behind an unfinished message');
    if (countWhole(fresh) === 0) broken.add(at);
    return [fresh];
  });
}

async function expectOneOrNone(sides: Sides, each: DowngradeCase, mayPass: boolean): Promise<void> {
  const { title } = each;
  const status = await ask(sides, each);
  await waitUntil(
    'the end of it',
    () => sides.plane.stats().get('http.web.downstream_rq_active') !== 1,
  );
  const got = arrived(sides);
  assert.ok(got.length <= 1, title);
  const [text = ''] = got;
  if (status !== 200) {
    assert.equal(countWhole(text), 0, `${title}: ${JSON.stringify(text)}`);
    const begun = text.slice(0, text.indexOf('\r\n\r\n') + 4);
    const unframed = begun.replace(/^(content-length|transfer-encoding):.*\r\n/gim, '');
    if (text !== '') readStrictly(unframed, 'request');
    return;
  }
  assert.ok(mayPass, `passed: ${title}`);
  const [message, ...more] = readStrictly(text, 'request');
  assert.deepEqual(more, [], title);
  expectSame(message, each);
}

function expectSame(message: StrictMessage | undefined, { title, ...sent }: DowngradeCase): void {
  assert.ok(message !== undefined);
  const { fields, data = [] } = sent;
  const wanted = (name: string): string => fields.find(([each]) => each === name)?.[1] ?? '';
  assert.equal(message.body, data.join(''), title);
  const [method, path] = message.start.split(' ');
  assert.equal(method, wanted(':method'), title);
  assert.equal(path, wanted(':path').split('#')[0], title);
  assert.deepEqual(valuesOf(message, 'host'), [wanted(':authority')], title);
  assert.ok(!message.start.includes('hidden'), title);
}

describe('a downgrade to HTTP/1', () => {
  for (const endsStream of [false, true]) {
    const how = endsStream ? 'ends a stream' : 'ends the connection';
    it(`of what must be refused arrives as nothing, where a fault ${how}`, async () => {
      await withSides(endsStream, async (sides) => {
        for (const each of REFUSED_DOWNGRADES) await expectOneOrNone(sides, each, false);
      });
    });
  }

  it('of what is odd arrives as one message that says the same', async () => {
    await withSides(false, async (sides) => {
      for (const each of ODD_DOWNGRADES) await expectOneOrNone(sides, each, true);
      const passed = sides.plane.stats().get('http.web.downstream_rq_2xx') ?? 0;
      assert.ok(passed >= 20, `${passed} passed`);
    });
  });

  it('of any byte at any place arrives as one message or as nothing', async () => {
    const random = attackRandom(41);
    const below = (limit: number): number => Math.floor(random() * limit);
    await withSides(false, async (sides) => {
      for (let run = 0; run < attackRuns(150, 20_000); run++) {
        await expectOneOrNone(sides, made(below), true);
      }
    });
  });
});

/** One honest request, or an odd one, with a byte or a request put in somewhere. */
function made(below: (limit: number) => number): DowngradeCase {
  const all = [...ODD_DOWNGRADES, ...REFUSED_DOWNGRADES];
  const { data, fields } = all[below(all.length)] ?? { fields: [] };
  const at = below(fields.length);
  const inserted = below(20) === 0 ? HIDDEN : String.fromCharCode(below(256));
  const put = (text: string): string => {
    const place = below(text.length + 1);
    return text.slice(0, place) + inserted + text.slice(place);
  };
  const isName = below(2) === 0;
  const changed = fields.map(([name, value], index) =>
    index === at
      ? ([isName ? put(name) : name, isName ? value : put(value)] as const)
      : ([name, value] as const),
  );
  const title = JSON.stringify([changed, data]);
  return { title, fields: changed, ...(data === undefined ? {} : { data }) };
}
