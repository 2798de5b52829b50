/** Questions of DNS of any bytes are answered or refused; lengths in them promise nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decode, encode } from 'dns-packet';
import { attackParameters } from '../../support/attack.ts';
import {
  addressRecord,
  readQuestion,
  serviceRecord,
  writeAnswer,
} from '../../../workers/udp/dns/dns-question.ts';

const QUESTION = encode({ type: 'query', id: 1, questions: [{ name: 'www.foo.test', type: 'A' }] });
/** A question with some of its bytes changed and its end cut or drawn out. */
const changed = fc
  .tuple(
    fc.array(fc.tuple(fc.nat(QUESTION.length - 1), fc.nat(255)), { maxLength: 6 }),
    fc.nat(QUESTION.length),
    fc.uint8Array({ maxLength: 400 }),
  )
  .map(([changes, length, more]) => {
    const bytes = Buffer.from(QUESTION);
    for (const [at, value] of changes) bytes[at] = value;
    return Buffer.concat([bytes.subarray(0, length), more]);
  });
const anything = fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes));

describe('questions of DNS', () => {
  it('are read or refused, and their answers can be read', () => {
    const property = fc.property(fc.oneof(changed, anything), fc.string(), (bytes, target) => {
      const read = readQuestion(bytes);
      const question = read.kind === 'question' ? read.question : undefined;
      const name = question?.name ?? 'x';
      const place = { name: target, priority: 1, weight: 1, port: 1 };
      const records = [
        ...Array.from({ length: 20 }, () => addressRecord(name, 300, '192.0.2.1')),
        serviceRecord(name, 1, place),
      ];
      const answer = { code: 0, question, records, isRecursive: true };
      for (const additional of [[], [addressRecord('y', 1, '2001:db8::1')]]) {
        const written = writeAnswer(bytes, { ...answer, additional });
        assert.ok(written.length <= 512);
        const { answers = [], questions = [], additionals = [] } = decode(written);
        assert.ok(answers.length <= 8 && additionals.length <= 1);
        assert.equal(questions.length, question === undefined ? 0 : 1);
      }
    });
    fc.assert(property, attackParameters(2_000, 1_000_000) as fc.Parameters<[Buffer, string]>);
  });
});
