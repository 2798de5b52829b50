/** Records of a tap that do not reach its client are counted and told of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import type { WorkerToSupervisor } from '../../../../shared/messages/worker-to-supervisor.ts';
import { TAP_RECORD_BYTES_MAX } from '../../../../shared/resources/tap.ts';
import { TapSessions } from '../../../../supervisor/tap/tap-sessions.ts';
import { TraceSender } from '../../../../workers/process/trace-sender.ts';

const RECORD = new Uint8Array(1);
const TOO_LARGE = new Uint8Array(TAP_RECORD_BYTES_MAX + 1);

test('a worker says what it could not send, of the session that lost it', () => {
  const posted: WorkerToSupervisor[] = [];
  const channel = {
    isCongested: true,
    post: (message: WorkerToSupervisor) => posted.push(message),
  };
  const sender = new TraceSender(channel);
  sender.send(1, RECORD);
  sender.send(2, RECORD);
  sender.send(2, RECORD);
  channel.isCongested = false;
  sender.send(2, RECORD);
  sender.send(2, TOO_LARGE);
  assert.deepEqual(posted, [
    { kind: 'tap_lost', session: 2, records: 2, why: 'too_slow' },
    { kind: 'tapped', session: 2, trace: RECORD },
    { kind: 'tap_lost', session: 2, records: 1, why: 'too_large' },
  ]);
});

test('the log tells of a record that is too large at once, and of all that were lost at the end', () => {
  const log: string[] = [];
  const sessions = new TapSessions({
    clock: systemClock,
    notify: () => undefined,
    log: (text) => log.push(text),
  });
  sessions.begin({ configId: 'one', settings: { match: { kind: 'any' } } as never });
  const lost = { kind: 'tap_lost', session: 1, records: 1 } as const;
  sessions.heard({ ...lost, why: 'too_large' });
  sessions.heard({ ...lost, why: 'too_large' });
  sessions.heard({ ...lost, why: 'too_slow', records: 3 });
  sessions.heard({ ...lost, why: 'too_slow', session: 7 });
  assert.deepEqual(log, ["a record of the tap 'one' is dropped: it is larger than 8388608 bytes"]);
  sessions.stop();
  assert.deepEqual(log.slice(1), [
    "3 records of the tap 'one' were dropped: its client did not keep up",
    "2 records of the tap 'one' were dropped: they were larger than 8388608 bytes",
  ]);
});
