import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CHUNKED_LINE,
  EMPTY_BODY_LINE,
  framingLine,
  UPGRADE_LINE,
} from '../../../../workers/http1/serialise.ts';

describe('lines about framing and the connection', () => {
  const lines: readonly (readonly [string, string])[] = [
    [CHUNKED_LINE, 'Transfer-Encoding: chunked\r\n'],
    [EMPTY_BODY_LINE, 'Content-Length: 0\r\n'],
    [UPGRADE_LINE, 'Connection: upgrade\r\n'],
    ['', ''],
  ];
  for (const [line, proper] of lines) {
    it(`have the case of the other headers: ${JSON.stringify(line)}`, () => {
      assert.equal(framingLine(line, 'proper'), proper);
      assert.equal(framingLine(line, 'lower'), line);
      assert.equal(framingLine(line, 'preserve'), line);
    });
  }
});
