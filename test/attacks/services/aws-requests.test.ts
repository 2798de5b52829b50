/**
 * Requests of every shape that are signed for AWS: what is signed has one line for each of its
 * parts, whatever a client puts into them, and what leaves is a target and a header.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  canonicalRequest,
  type HeaderPair,
  type PathStyle,
} from '../../../shared/aws/canonical-request.ts';
import { presignedPath } from '../../../shared/aws/presigned-path.ts';
import { amzDate, authorization, Signer } from '../../../shared/aws/signature.ts';
import { isFitField, isTarget } from '../../../workers/stream/permitted.ts';
import { attackParameters } from '../../support/attack.ts';

const CREDENTIALS = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'to/ke+n=' };
const HASH = 'UNSIGNED-PAYLOAD';

/** As parsers let them in. */
const target = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '/',
        '//',
        '/..',
        '/.',
        '?',
        '&',
        '=',
        '%',
        '%2f',
        '%0a',
        '%zz',
        '+',
        '~',
        '#',
      ),
      fc.integer({ min: 0x21, max: 0x7e }).map((byte) => String.fromCharCode(byte)),
      fc.constantFrom('X-Amz-Signature=1', 'X-Amz-Expires=9', '\\', '__proto__', 'constructor=a'),
    ),
    { maxLength: 30 },
  )
  .map((parts) => `/${parts.join('')}`);
const value = fc
  .array(
    fc.oneof(
      fc.constantFrom(' ', '\t', '  \t ', ',', ':', ';'),
      fc
        .integer({ min: 0x21, max: 0xff })
        .map((byte) => String.fromCharCode(byte))
        .filter((text) => text !== '\x7f'),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const name = fc.constantFrom(
  'a',
  'b-c',
  'x-amz-meta',
  'x-amz-date',
  'cookie',
  '__proto__',
  'constructor',
  "!#$%&'*+-.^_`|~",
);
const headers: fc.Arbitrary<readonly HeaderPair[]> = fc
  .array(fc.tuple(name, value), { maxLength: 8 })
  .map((pairs): HeaderPair[] => [['host', 'h.test'], ...pairs]);
const style: fc.Arbitrary<PathStyle> = fc.record({
  isNormalized: fc.boolean(),
  isEncodedTwice: fc.boolean(),
});
const algorithm = fc.constantFrom('v4' as const, 'v4a' as const);

function signedNames(pairs: readonly HeaderPair[]): readonly string[] {
  const names = pairs.filter(([, text]) => text.trim() !== '').map(([each]) => each);
  return [...new Set(names)].sort();
}

describe('requests that are signed for AWS', () => {
  it('have one line for each part of what is signed', () => {
    fc.assert(
      fc.property(target, headers, style, (path, pairs, how) => {
        const request = { method: 'GET', path, headers: pairs };
        const { text, signedHeaders } = canonicalRequest(request, HASH, how);
        const names = signedNames(pairs);
        const lines = text.split('\n');
        assert.equal(lines.length, 3 + names.length + 3, JSON.stringify(text));
        assert.deepEqual(
          lines.slice(3, 3 + names.length).map((line) => line.slice(0, line.indexOf(':'))),
          names,
        );
        assert.deepEqual(lines.slice(-3), ['', names.join(';'), HASH]);
        assert.equal(signedHeaders, names.join(';'));
        assert.match(lines[1] ?? '', /^[/A-Za-z0-9\-._~%]+$/);
        assert.match(lines[2] ?? '', /^[A-Za-z0-9\-._~%=&]*$/);
      }),
      attackParameters(2000, 200_000),
    );
  });

  it('leave as a target or a header, and say what the client said', () => {
    const signer = new Signer();
    fc.assert(
      fc.property(target, headers, style, algorithm, (path, pairs, how, by) => {
        const scope = { algorithm: by, service: 's', region: 'r', date: amzDate(0) };
        const canonical = (each: string) =>
          canonicalRequest({ method: 'GET', path: each, headers: pairs }, HASH, how);
        assert.ok(
          isFitField('authorization', authorization(signer, CREDENTIALS, scope, canonical(path))),
        );
        const parts = { signer, credentials: CREDENTIALS, scope, expiresS: 5 };
        const signed = presignedPath(parts, path, canonical);
        assert.equal(isTarget(signed), isTarget(path), signed);
        const [plain = '', ...query] = path.split('?');
        assert.ok(signed.startsWith(`${plain}?`));
        const given = query
          .join('?')
          .split('&')
          .filter((each) => each !== '');
        const left = signed.slice(plain.length + 1).split('&');
        for (const each of given) {
          assert.ok(left.includes(each.includes('=') ? each : `${each}=`), `${each} of ${signed}`);
        }
        const own = left.length - given.length;
        assert.equal(own, by === 'v4a' ? 8 : 7, signed);
      }),
      attackParameters(300, 20_000),
    );
  });
});
