/** Files of a cache on disk that somebody wrote who should not: a response or nothing, never a throw. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { readKept, writeKept } from '../../../workers/filters/http/cache/kept-file.ts';
import { HeaderMap } from '../../../workers/stream/header-map.ts';
import { attackParameters } from '../../support/attack.ts';

function kept(body: Buffer) {
  const headers = new HeaderMap();
  headers.status = 200;
  headers.add('x-a', 'one');
  headers.add('x-a', 'two');
  return { headers, body, receivedS: 12 };
}

it('reads what was written, for its own key alone', () => {
  fc.assert(
    fc.property(fc.string(), fc.uint8Array(), (key, bytes) => {
      const file = writeKept(key, kept(Buffer.from(bytes)));
      const read = readKept(key, file);
      assert.deepEqual(read?.body, Buffer.from(bytes));
      assert.equal(read.headers.getAll('x-a'), 'one,two');
      assert.equal(readKept(`${key}.`, file), undefined);
      assert.equal(readKept(key, file.subarray(0, file.length - 1)), undefined);
    }),
    attackParameters(500, 100_000),
  );
});

it('reads changed files as nothing, or as a whole response', () => {
  const file = writeKept('key', kept(Buffer.from('body')));
  fc.assert(
    fc.property(fc.nat(file.length - 1), fc.uint8Array({ maxLength: 8 }), (at, bytes) => {
      const changed = Buffer.concat([file.subarray(0, at), bytes, file.subarray(at + 1)]);
      const read = readKept('key', changed);
      if (read === undefined) return;
      assert.ok(read.headers.status >= 100 && read.headers.status <= 999);
      assert.equal(read.body.length, 4);
    }),
    attackParameters(2000, 100_000),
  );
});
