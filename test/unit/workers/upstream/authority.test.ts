import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAuthority, printAuthority } from '../../../../shared/addresses/authority.ts';

describe('the authority of a request as a name to look up', () => {
  const cases: readonly (readonly [text: string, host: string, port: number, printed: string])[] = [
    ['web.test', 'web.test', 80, 'web.test:80'],
    ['web.test:8080', 'web.test', 8080, 'web.test:8080'],
    ['127.0.0.1:1', '127.0.0.1', 1, '127.0.0.1:1'],
    ['[::1]:443', '::1', 443, '[::1]:443'],
    ['[::1]', '::1', 80, '[::1]:80'],
    ['::1', '::1', 80, '[::1]:80'],
    ['web.test:', 'web.test:', 80, '[web.test:]:80'],
    ['web.test:70000', 'web.test:70000', 80, '[web.test:70000]:80'],
    ['', '', 80, ':80'],
  ];
  for (const [text, host, port, printed] of cases) {
    it(`of '${text}' is ${printed}`, () => {
      const authority = parseAuthority(text, 80);
      assert.deepEqual(authority, { host, port });
      assert.equal(printAuthority(authority), printed);
    });
  }
});
