import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  readSessionCookie,
  writeSessionCookie,
} from '../../../../workers/filters/http/stateful-session/session-cookie.ts';

const NOW = 1_795_272_000;

describe('a session cookie', () => {
  it('is written as Envoy writes it', () => {
    assert.equal(
      writeSessionCookie('127.0.0.1:36161', 120_000, 1_795_272_696 - 120),
      'Cg8xMjcuMC4wLjE6MzYxNjEQ+N+G2AY=',
    );
  });

  it('is read back until it ends', () => {
    const value = writeSessionCookie('[::1]:80', 60_000, NOW);
    assert.equal(readSessionCookie(value, NOW + 59), '[::1]:80');
    assert.equal(readSessionCookie(value, NOW + 60), undefined);
    assert.equal(readSessionCookie(writeSessionCookie('a:1', 0, NOW), NOW * 2), 'a:1');
  });

  it('may be the address alone, as older ones are', () => {
    assert.equal(
      readSessionCookie(Buffer.from('10.0.0.1:80').toString('base64'), NOW),
      '10.0.0.1:80',
    );
  });

  it('is no address when it is damaged', () => {
    const whole = Buffer.from(writeSessionCookie('127.0.0.1:80', 60_000, NOW), 'base64');
    for (let length = 1; length < whole.length; length++) {
      const cut = readSessionCookie(whole.subarray(0, length).toString('base64'), NOW);
      assert.ok(cut === undefined || cut === '127.0.0.1:80', `${length} bytes: ${cut}`);
    }
    assert.equal(readSessionCookie('', NOW), undefined);
    assert.equal(readSessionCookie('A'.repeat(500), NOW), undefined);
  });
});
