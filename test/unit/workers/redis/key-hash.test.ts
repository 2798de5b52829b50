import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashTagOf } from '../../../../workers/redis/upstream/key-hash.ts';

describe('hash tags of keys', () => {
  const tags: readonly (readonly [key: string, tag: string])[] = [
    ['{user1000}.following', 'user1000'],
    ['foo{}{bar}', 'foo{}{bar}'],
    ['foo{{bar}}zap', '{bar'],
    ['foo{bar}{zap}', 'bar'],
    ['foo{bar', 'foo{bar'],
    ['foo}bar{', 'foo}bar{'],
    ['', ''],
  ];
  for (const [key, tag] of tags) {
    it(`of ${JSON.stringify(key)} is ${JSON.stringify(tag)}`, () =>
      assert.equal(hashTagOf(key), tag));
  }
});
