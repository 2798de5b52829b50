/** The cache's memory is bounded, whatever is kept and whatever is still coming. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { byteRange } from '../../../../../workers/filters/http/cache/byte-range.ts';
import { IncomingEntry } from '../../../../../workers/filters/http/cache/incoming-entry.ts';
import { MemoryCache } from '../../../../../workers/filters/http/cache/memory-cache.ts';
import { headerMap } from '../../../../support/parts/stream.ts';

const LIMIT = 10_000;
const response = (bytes: number) => ({
  headers: headerMap([['a', 'b']]),
  body: Buffer.alloc(bytes),
  receivedS: 0,
});

describe('the memory of the HTTP cache', () => {
  it('lets go what was not used for longest', () => {
    const cache = new MemoryCache(LIMIT);
    for (const key of ['a', 'b', 'c']) cache.set(key, response(2500));
    cache.get('a');
    cache.set('d', response(2500));
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].filter((key) => cache.get(key) !== undefined),
      ['a', 'c', 'd'],
    );
    assert.ok(cache.bytes <= LIMIT);
    cache.set('e', response(LIMIT));
    assert.equal(cache.get('e'), undefined);
  });

  it('counts bodies that are coming, and gives them back', () => {
    const cache = new MemoryCache(LIMIT);
    const whole: number[] = [];
    const first = new IncomingEntry(cache, undefined, (body) => whole.push(body.length));
    const second = new IncomingEntry(cache, undefined, (body) => whole.push(body.length));
    first.take(Buffer.alloc(6000));
    second.take(Buffer.alloc(6000));
    second.end();
    first.end();
    assert.deepEqual(whole, [6000]);
    const small = new IncomingEntry(cache, 10, () => assert.fail('it is too large'));
    small.take(Buffer.alloc(11));
    small.end();
    assert.equal(cache.bytes, 0);
  });
});

describe('ranges of bytes', () => {
  it('are one range or the whole body', () => {
    for (const [text, expected] of [
      ['bytes=2-4', { first: 2, last: 4 }],
      ['bytes=7-', { first: 7, last: 9 }],
      ['bytes=-3', { first: 7, last: 9 }],
      ['bytes=-30', { first: 0, last: 9 }],
      ['bytes=2-400', { first: 2, last: 9 }],
      ['bytes=10-', 'not_satisfiable'],
      ['bytes=-0', 'not_satisfiable'],
      ['bytes=4-2', undefined],
      ['bytes=0-1,3-4', undefined],
      ['bytes=-', undefined],
      [`bytes=${'9'.repeat(400)}-`, undefined],
      ['items=0-1', undefined],
      [undefined, undefined],
    ] as const) {
      assert.deepEqual(byteRange(text, 10), expected, text);
    }
  });
});
