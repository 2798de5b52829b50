/**
 * Answers of processors, valid ones and broken ones, from a fixed seed: nothing is thrown, and what
 * another reader of protobuf does not take for a message is none here.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import protobuf from 'protobufjs';
import { readJsonAnswer } from '../../../workers/filters/http/ext-proc/json-answer.ts';
import { readProcessingResponse } from '../../../workers/filters/http/ext-proc/processing-response.ts';
import { attackRandom, attackRuns } from '../../support/attack.ts';
import { immediate, processed } from '../../support/peers/services/processor-peer.ts';

const SECOND_OPINION = protobuf
  .parse(`syntax = "proto3"; message Answer { bytes any = 99; }`)
  .root.lookupType('Answer');

const ANSWERS = [
  processed('request_headers', { set: { 'x-a': 'b', ':path': '/c' }, remove: ['x-d'] }),
  processed('request_body', { body: 'whole', replaces: true }),
  processed('response_body', { piece: 'part', isLast: true, clearsRoute: true }),
  processed('response_trailers', { set: { 'x-t': 'u' } }),
  immediate(403, 'no', 'because of that'),
];
const JSON_ANSWERS = [
  '{"requestHeaders":{"response":{"headerMutation":{"setHeaders":[{"header":{"key":"a","rawValue":"Yg=="}}]}}}}',
  '{"immediate_response":{"status":{"code":403},"body":"bm8=","headers":{"remove_headers":["x"]}}}',
  '{"response_headers":{},"dynamic_metadata":{"a":{"b":[1,null]}},"override_message_timeout":"1.5s"}',
];

function broken(bytes: Buffer, random: () => number): Buffer {
  const made = Buffer.from(bytes);
  for (let times = Math.floor(random() * 4); times > 0; times--) {
    made[Math.floor(random() * made.length)] = Math.floor(random() * 256);
  }
  return random() < 0.8 ? made : made.subarray(0, Math.floor(random() * made.length));
}

function isMessage(bytes: Buffer): boolean {
  try {
    SECOND_OPINION.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

describe('answers of processors', () => {
  it('are read, or refused, and never throw', () => {
    const random = attackRandom();
    let [read, refused] = [0, 0];
    for (let run = attackRuns(20_000, 1_000_000); run > 0; run--) {
      const valid = ANSWERS[Math.floor(random() * ANSWERS.length)] ?? Buffer.alloc(0);
      const bytes = broken(valid, random);
      const answer = readProcessingResponse(bytes);
      if (answer === undefined) refused++;
      else {
        read++;
        assert.ok(isMessage(bytes), bytes.toString('hex'));
      }
    }
    assert.ok(read > 0 && refused > 0);
  });

  it('by HTTP are read, or refused, and never throw', () => {
    const random = attackRandom();
    let [read, refused] = [0, 0];
    for (let run = attackRuns(20_000, 1_000_000); run > 0; run--) {
      const valid = JSON_ANSWERS[Math.floor(random() * JSON_ANSWERS.length)] ?? '';
      if (readJsonAnswer(broken(Buffer.from(valid), random)) === undefined) refused++;
      else read++;
    }
    assert.ok(read > 0 && refused > 0);
  });

  it('whose members are named like those of every object are none', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      assert.equal(readJsonAnswer(Buffer.from(`{"${name}":{}}`)), undefined);
    }
  });
});
