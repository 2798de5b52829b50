/**
 * Answers of services that filters ask, valid ones and broken ones, from a fixed seed: nothing is
 * thrown, and nothing passes that another reader of protobuf takes for a refusal.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import protobuf from 'protobufjs';
import { readLimitAnswer } from '../../../workers/filters/common/rate-limit-service.ts';
import { readCheckResponse } from '../../../workers/filters/http/ext-authz/check-response.ts';
import { readMessage } from '../../../shared/protobuf/proto-reader.ts';
import { attackRandom, attackRuns } from '../../support/attack.ts';
import { checkResponse, limitResponse } from '../../support/peers/services/asked-services.ts';

const SECOND_OPINION = protobuf.parse(`
  syntax = "proto3";
  message Status { int32 code = 1; }
  message Check { repeated Status status = 1; }
  message Limit { int32 overall_code = 1; }
`).root;

interface Codes {
  readonly status?: readonly { readonly code?: number }[];
  readonly overallCode?: number;
}

/** Undefined for bytes that are no message. */
function decode(type: string, bytes: Buffer): Codes | undefined {
  try {
    return SECOND_OPINION.lookupType(type).decode(bytes) as Codes;
  } catch {
    return undefined;
  }
}

/** Some bytes changed, cut, doubled or put in. */
function broken(bytes: Buffer, random: () => number): Buffer {
  let made = Buffer.from(bytes);
  const times = Math.floor(random() * 4);
  for (let count = 0; count < times; count++) {
    const at = Math.floor(random() * made.length);
    const choice = random();
    if (choice < 0.6) made[at] = Math.floor(random() * 256);
    else if (choice < 0.7) made = made.subarray(0, at);
    else if (choice < 0.85) made = Buffer.concat([made.subarray(0, at), made.subarray(at / 2)]);
    else
      made = Buffer.concat([
        made.subarray(0, at),
        Buffer.from([random() * 256]),
        made.subarray(at),
      ]);
  }
  return made;
}

const DENIAL = { code: 7, status: 401, body: 'no', headers: { 'x-why': 'because' } };
const PASS = { headers: { 'x-user': 'alice' }, removes: ['x'], metadata: { a: [1, { b: 'c' }] } };

describe('answers of services', () => {
  it('let no request pass that a second reader would refuse', () => {
    const random = attackRandom();
    const valid = [checkResponse(DENIAL), checkResponse(PASS), checkResponse({ code: 16 })];
    let passed = 0;
    for (let run = 0; run < attackRuns(20_000, 1_000_000); run++) {
      const bytes = broken(valid[run % valid.length] ?? Buffer.alloc(0), random);
      const outcome = readMessage(bytes, readCheckResponse);
      if (outcome?.kind !== 'ok') continue;
      passed++;
      // The last code that is written counts among several statuses, as protobuf merges them.
      const codes = decode('Check', bytes)?.status?.map(({ code = 0 }) => code);
      assert.ok(codes === undefined || (codes.at(-1) ?? 0) === 0, bytes.toString('hex'));
    }
    assert.ok(passed > 1000, 'valid answers are among them');
  });

  it('hold every limit that a second reader sees', () => {
    const random = attackRandom(1);
    const valid = [limitResponse(2, 'slow'), limitResponse(1)];
    for (let run = 0; run < attackRuns(20_000, 1_000_000); run++) {
      const bytes = broken(valid[run % valid.length] ?? Buffer.alloc(0), random);
      const answer = readMessage(bytes, readLimitAnswer);
      const code = decode('Limit', bytes)?.overallCode;
      if (answer === undefined || code === undefined) continue;
      assert.equal(answer.isOverLimit, code === 2, bytes.toString('hex'));
    }
  });

  it('of any depth come to an end', () => {
    let value = Buffer.from([0x20, 0x01]);
    for (let depth = 0; depth < 5000 && value.length < 60_000; depth++) {
      // A list with one element, which is a value.
      const element = Buffer.concat([Buffer.from([0x0a]), wrap(value)]);
      value = Buffer.concat([Buffer.from([0x32]), wrap(element)]);
    }
    const member = Buffer.concat([Buffer.from([0x12]), wrap(value)]);
    const struct = Buffer.concat([Buffer.from([0x0a]), wrap(member)]);
    const answer = Buffer.concat([Buffer.from([0x22]), wrap(struct)]);
    assert.equal(readMessage(answer, readCheckResponse), undefined);
  });
});

/** Behind its length. */
function wrap(bytes: Buffer): Buffer {
  const { length } = bytes;
  return Buffer.concat([
    Buffer.from([(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14]),
    bytes,
  ]);
}
