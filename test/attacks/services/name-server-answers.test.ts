/**
 * What a name server may answer: only what answers the question is taken, whatever else the message
 * holds.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, encode } from 'dns-packet';
import fc from 'fast-check';
import { isIP } from 'node:net';
import { decodeAnswer, encodeQuestion } from '../../../shared/dns/dns-message.ts';
import { attackParameters } from '../../support/attack.ts';

const NAME = 'host.test';
const QUESTION = { name: NAME, family: 4, id: 7 } as const;
const ASKED = [{ type: 'A' as const, name: NAME }];

const address = (name: string, data = '10.0.0.1', ttl = 30): Answer => ({
  type: 'A',
  name,
  data,
  ttl,
});
const alias = (name: string, data: string): Answer => ({ type: 'CNAME', name, data });
const answer = (answers: Answer[], questions = ASKED, id = 7): Buffer =>
  encode({ type: 'response', id, questions, answers });
const addressesOf = (message: Buffer): unknown => {
  const found = decodeAnswer(message, QUESTION);
  return typeof found === 'string' ? found : found.map((record) => record.address);
};

describe('an answer of a hostile name server', () => {
  it('is taken for its own question alone', () => {
    assert.deepEqual(addressesOf(answer([address(NAME)])), ['10.0.0.1']);
    assert.deepEqual(
      addressesOf(answer([address('HOST.Test')], [{ type: 'A', name: 'HOST.test' }])),
      ['10.0.0.1'],
    );
    assert.equal(addressesOf(answer([address(NAME)], ASKED, 8)), 'EBADRESP');
    assert.equal(addressesOf(answer([address(NAME)], [])), 'EBADRESP');
    assert.equal(
      addressesOf(answer([address(NAME)], [{ type: 'A', name: 'other.test' }])),
      'EBADRESP',
    );
    assert.equal(addressesOf(answer([address(NAME)], [...ASKED, ...ASKED])), 'EBADRESP');
  });

  it('has no addresses of other names but those that the name is an alias of', () => {
    assert.equal(addressesOf(answer([address('evil.test')])), 'ENODATA');
    const chain = Array.from({ length: 1000 }, (_, at) => alias(`n${at}.test`, `n${at + 1}.test`));
    const last = address('n1000.test');
    assert.deepEqual(addressesOf(answer([alias(NAME, 'n0.test'), ...chain, last])), ['10.0.0.1']);
    assert.equal(addressesOf(answer([alias(NAME, 'b.test'), alias('b.test', NAME)])), 'ENODATA');
    assert.equal(addressesOf(answer([alias(NAME, 'b.test'), address('c.test')])), 'ENODATA');
  });

  it('gives nothing for records that are too short and for names that go round in circles', () => {
    const question = encodeQuestion(NAME, 4, 7);
    assert.ok(question !== undefined);
    const head = Buffer.from(question);
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 6);
    const record = (...bytes: readonly number[]): unknown =>
      addressesOf(Buffer.concat([head, Buffer.from(bytes)]));
    assert.deepEqual(record(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4), ['1.2.3.4']);
    assert.equal(record(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 0), 'EBADRESP');
    assert.equal(record(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 2, 1, 2), 'EBADRESP');
    assert.equal(record(0xc0, head.length, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4), 'EBADRESP');
  });

  it('is bytes of any kind behind a right head', () => {
    const question = encodeQuestion(NAME, 4, 7) ?? Buffer.alloc(0);
    const property = fc.property(
      fc.nat(0xffff),
      fc.uint8Array({ maxLength: 300 }),
      (count, bytes) => {
        const head = Buffer.from(question);
        head.writeUInt16BE(0x8180, 2);
        head.writeUInt16BE(count, 6);
        const found = decodeAnswer(Buffer.concat([head, bytes]), QUESTION);
        if (typeof found === 'string') return;
        for (const record of found) assert.equal(isIP(record.address), 4);
      },
    );
    fc.assert(property, attackParameters(3000, 1_000_000));
  });
});
