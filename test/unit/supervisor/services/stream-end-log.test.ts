import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StreamEndLog } from '../../../../supervisor/services/stream-end-log.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const GONE = { code: 14, reason: 'gone' };

function logging(): { clock: ManualClock; lines: string[]; log: StreamEndLog } {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = new StreamEndLog({ method: '/a.B/StreamC', peer: 'control' }, clock, (level, text) =>
    lines.push(`${level} ${text}`),
  );
  return { clock, lines, log };
}

describe('the log of streams that end', () => {
  it('speaks at once of what another try will not mend, and of a good end for those who look closely', () => {
    const { lines, log } = logging();
    log.ended({ code: 12, reason: 'no such method' });
    log.ended({ code: 0, reason: '' });
    assert.deepEqual(lines, [
      'warning StreamC gRPC config stream to control closed: 12, no such method',
      'debug StreamC gRPC config stream to control closed: 0, ',
    ]);
  });

  it('speaks of a control plane that is away when it stays away', () => {
    const { clock, lines, log } = logging();
    log.ended(GONE);
    clock.pass(30_000);
    log.ended(GONE);
    clock.pass(1000);
    log.ended(GONE);
    assert.deepEqual(lines, [
      'debug StreamC gRPC config stream to control closed: 14, gone',
      'debug StreamC gRPC config stream to control closed: 14, gone',
      'warning StreamC gRPC config stream to control closed since 31s ago: 14, gone',
    ]);
  });

  it('speaks of another reason, and begins again when the control plane spoke', () => {
    const { clock, lines, log } = logging();
    log.ended(GONE);
    clock.pass(2000);
    log.ended({ code: 8, reason: 'too many' });
    log.heard();
    log.ended(GONE);
    assert.deepEqual(lines.slice(1), [
      'warning StreamC gRPC config stream to control closed: 8, too many (previously 14, gone since 2s ago)',
      'debug StreamC gRPC config stream to control closed: 14, gone',
    ]);
  });
});
