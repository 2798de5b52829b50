/** What a connection of HTTP/2 holds while nothing is asked on it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heldBytes } from '../../../support/peers/hostile/garbage.ts';
import { CLIENT_PREFACE, SETTINGS_ACK, settingsFrame } from '../../../../workers/http2/frames.ts';
import { Http2Session } from '../../../../workers/http2/session.ts';
import type { SessionOptions, SessionUser } from '../../../../workers/http2/session-user.ts';
import type { Wire } from '../../../../workers/net/wire.ts';

const SESSIONS = 2000;
/** The limit of one session: its tables, its block and its copies are made when they are needed. */
const MOST_BYTES = 2500;
const BEGINNING = Buffer.from(CLIENT_PREFACE + settingsFrame([]) + SETTINGS_ACK, 'latin1');

const options: SessionOptions = {
  isServer: true,
  settings: [],
  headerTableSize: 4096,
  maxConcurrentStreams: 100,
  streamWindow: 65_535,
  connectionWindow: 65_535,
  maxBlockBytes: 65_536,
  maxHeaderTextBytes: 65_536,
  usesHuffman: false,
  maxOutboundFrames: 1000,
  maxOutboundControlFrames: 1000,
  streamBufferBytes: 65_536,
  maxMetadataBytes: 0,
  maxConsecutiveEmptyFrames: 1,
  maxPriorityFramesPerStream: 100,
  maxWindowUpdatesPerDataFrame: 10,
};
const wire: Pick<Wire, 'writeText' | 'writeData'> = {
  writeText: () => undefined,
  writeData: () => undefined,
};
const user: Pick<SessionUser, 'onSettings'> = { onSettings: () => undefined };

function begin(): Http2Session {
  const session = new Http2Session(wire as Wire, user as SessionUser, options);
  session.start();
  session.onData(BEGINNING, 0, BEGINNING.length);
  assert.ok(session.areSettingsAcknowledged && !session.isOver);
  return session;
}

describe('an idle HTTP/2 session', () => {
  it('holds little memory', async () => {
    const sessions = Array.from({ length: SESSIONS }, begin);
    const before = await heldBytes();
    for (let at = 0; at < SESSIONS; at++) sessions.push(begin());
    const each = ((await heldBytes()) - before) / SESSIONS;
    assert.ok(each < MOST_BYTES, `${each} bytes each`);
    assert.equal(sessions.length, 2 * SESSIONS);
  });
});
