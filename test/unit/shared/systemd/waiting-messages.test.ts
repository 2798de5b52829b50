import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WAITING_WORDS_MAX, WaitingMessages } from '../../../../shared/systemd/waiting-messages.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function reader() {
  const clock = new ManualClock();
  const heard: string[] = [];
  let room = 0;
  const words = new WaitingMessages(clock, (word) => {
    if (room === 0) return false;
    room -= 1;
    heard.push(word);
    return true;
  });
  return { clock, heard, words, makeRoom: (more: number) => (room += more) };
}

describe('words that a busy service manager has no room for', () => {
  it('are said in their order when it has room, and nothing overtakes them', () => {
    const { clock, heard, words, makeRoom } = reader();
    words.say('READY=1');
    makeRoom(1);
    words.say('STATUS=live');
    assert.deepEqual(heard, []);
    clock.pass(50);
    assert.deepEqual(heard, ['READY=1']);
    makeRoom(9);
    clock.pass(50);
    words.say('STOPPING=1');
    assert.deepEqual(heard, ['READY=1', 'STATUS=live', 'STOPPING=1']);
  });

  it('wait once where they are said again and again', () => {
    const { clock, heard, words, makeRoom } = reader();
    for (const word of ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1', 'WATCHDOG=1']) words.say(word);
    makeRoom(9);
    clock.pass(50);
    assert.deepEqual(heard, ['READY=1', 'WATCHDOG=1']);
  });

  it('are given up from the oldest on when too many wait', () => {
    const { clock, heard, words, makeRoom } = reader();
    for (let at = 0; at <= WAITING_WORDS_MAX; at += 1) words.say(`STATUS=${at}`);
    makeRoom(1000);
    clock.pass(50);
    assert.equal(heard.length, WAITING_WORDS_MAX);
    assert.equal(heard[0], 'STATUS=1');
  });
});
