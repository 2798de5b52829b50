import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import {
  canonicalPath,
  compilePathPolicy,
} from '../../../../workers/headers/path-normalization.ts';
import type { PathOptions } from '../../../../workers/headers/path-normalization.ts';

const KEEP: PathOptions = {
  normalizePath: false,
  mergeSlashes: false,
  escapedSlashes: 'KEEP_UNCHANGED',
};

function check(
  options: Partial<PathOptions>,
  table: readonly (readonly [string, string | undefined])[],
): void {
  const policy = compilePathPolicy({ ...KEEP, ...options });
  for (const [path, expected] of table) assert.equal(policy.apply(path), expected, path);
}

// Every expectation was recorded from Envoy 1.40.0.
describe('path normalisation', () => {
  it('leaves a path alone when nothing is asked for, but refuses a fragment', () => {
    check({}, [
      ['/a/../b', '/a/../b'],
      ['/a//b', '/a//b'],
      ['/a%2fb', '/a%2fb'],
      ['/a#b', undefined],
      ['/a?b#c', undefined],
    ]);
  });

  it('resolves dot segments, escaped or not', () => {
    check({ normalizePath: true }, [
      ['/a/./b', '/a/b'],
      ['/a/../b', '/b'],
      ['/a/../../b', '/b'],
      ['/..', '/'],
      ['/a/.', '/a/'],
      ['/a/..', '/'],
      ['/a/b/..', '/a/'],
      ['/a/%2E%2e/b', '/b'],
      ['/a/%2e', '/a/'],
      ['/a/...', '/a/...'],
      ['/a/.b', '/a/.b'],
      ['/a//../b', '/a/b'],
      ['/a/..//b', '//b'],
      ['//..', '/'],
      ['///..', '//'],
      ['/a//..', '/a/'],
      ['/%2e%2e%2f', '/..%2f'],
      ['/%%2e', '/%.'],
    ]);
  });

  it('drops the parameters of a literal dot segment', () => {
    check({ normalizePath: true }, [
      ['/a/..;/b', '/b'],
      ['/a/..;x/b', '/b'],
      ['/a/.;x=1/b', '/a/b'],
      ['/a/..;', '/'],
      ['/a/..;?x', '/?x'],
      ['/a/%2e%2e;/b', '/a/..;/b'],
      ['/a/;../b', '/a/;../b'],
      ['/a/x..;/b', '/a/x..;/b'],
      ['/a\\..;/b', '/a/..;/b'],
      ['/a/..;\\b', '/'],
    ]);
  });

  it('decodes unreserved characters and encodes those that no URL may hold', () => {
    check({ normalizePath: true }, [
      ['/a/%41%7e%2D', '/a/A~-'],
      ['/a%2fb%5C', '/a%2fb%5C'],
      ['/a"b<c>^`{|}', '/a%22b%3Cc%3E%5E%60%7B%7C%7D'],
      ['/a\\b', '/a/b'],
      ['/a/%00', undefined],
      ['/a/%c3%a9%20%zz%', '/a/%c3%a9%20%zz%'],
      ["/a'b(c)*!$&+,=:@-_~[]", "/a'b(c)*!$&+,=:@-_~[]"],
    ]);
  });

  it('never touches the query', () => {
    check({ normalizePath: true, mergeSlashes: true, escapedSlashes: 'UNESCAPE_AND_FORWARD' }, [
      ['/a/../b?x=/../y//%2f%41\\"<', '/b?x=/../y//%2f%41\\"<'],
      ['/?', '/?'],
    ]);
  });

  it('merges slashes after the path is canonical', () => {
    check({ normalizePath: true, mergeSlashes: true }, [
      ['/a//b', '/a/b'],
      ['///a///b///', '/a/b/'],
      ['/a/..//b', '/b'],
      ['//', '//'],
      ['/..//', '//'],
      ['/a//..//b', '/a/b'],
    ]);
    check({ mergeSlashes: true }, [['/a//../b', '/a/../b']]);
  });

  it('treats escaped slashes before anything else', () => {
    check({ escapedSlashes: 'REJECT_REQUEST' }, [
      ['/a%2Fb', undefined],
      ['/a%5cb', undefined],
      ['/a?%2f', '/a?%2f'],
    ]);
    check({ escapedSlashes: 'UNESCAPE_AND_FORWARD' }, [['/a/%5C../b%2F', '/a/\\../b/']]);
    check({ escapedSlashes: 'UNESCAPE_AND_FORWARD', normalizePath: true }, [
      ['/a%2f..%2fb', '/b'],
      ['/a/%5c../b', '/a/b'],
    ]);
  });

  it('redirects only a path that had an escaped slash', () => {
    const policy = compilePathPolicy({ ...KEEP, escapedSlashes: 'UNESCAPE_AND_REDIRECT' });
    assert.equal(policy.apply('/a%2f..%2fb?q=%2f'), '/a/../b?q=%2f');
    assert.equal(policy.redirects('/a%2fb'), true);
    assert.equal(policy.redirects('/a?b=%2f'), false);
  });

  it('is done after one pass over any path without escapes', () => {
    const part = fc.constantFrom('/', '.', '..', 'a', ';', '\\', '"', '//');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const once = canonicalPath(`/${parts.join('')}`);
        assert.ok(once !== undefined && once.startsWith('/'));
        assert.ok(!/\/\.\.?(\/|$)/.test(once), once);
      }),
    );
  });
});
