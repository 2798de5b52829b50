/** Which requests a tap records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TapMatch } from '../../../../shared/resources/tap.ts';
import { BodySearch } from '../../../../workers/tap/body-search.ts';
import { compileTapMatch } from '../../../../workers/tap/tap-matcher.ts';
import { headerMap, requestHeaders } from '../../../support/parts/stream.ts';

function has(of: Extract<TapMatch, { kind: 'headers' }>['of'], name: string): TapMatch {
  const match = { kind: 'present', present: true } as const;
  return {
    kind: 'headers',
    of,
    matchers: [{ name, invert: false, treatMissingAsEmpty: false, match }],
  };
}

test('rules are settled by the part of the exchange that they speak of', () => {
  const request = has('request_headers', 'x-a');
  const response = has('response_headers', 'x-b');
  const body: TapMatch = { kind: 'body', of: 'request', bytesLimit: 0, patterns: ['Ym8='] };
  const cases: readonly (readonly [TapMatch, readonly boolean[]])[] = [
    [{ kind: 'any' }, [true, true, true]],
    [request, [true, true, true]],
    [response, [false, false, true]],
    [body, [false, true, true]],
    [{ kind: 'and', rules: [request, response] }, [false, false, true]],
    [{ kind: 'or', rules: [response, request] }, [true, true, true]],
    [{ kind: 'not', rule: request }, [false, false, false]],
    [{ kind: 'not', rule: response }, [true, true, false]],
    [{ kind: 'and', rules: [{ kind: 'not', rule: body }, request] }, [true, false, false]],
    [has('request_trailers', 'x-a'), [false, false, false]],
  ];
  for (const [match, expected] of cases) {
    const progress = compileTapMatch(match)();
    const seen: boolean[] = [];
    progress.onHeaders('request_headers', requestHeaders('/', [['x-a', '1']]));
    seen.push(progress.status.matches);
    progress.onBody('request', Buffer.from('body'));
    seen.push(progress.status.matches);
    progress.onHeaders('response_headers', headerMap([['x-b', '1']]));
    seen.push(progress.status.matches);
    assert.deepEqual(seen, expected, JSON.stringify(match));
  }
});

test('patterns are found wherever the pieces of a body break', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[ab]{0,4}$/), { maxLength: 8 }),
      fc.array(fc.stringMatching(/^[ab]{1,4}$/), { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 0, max: 12 }),
      (pieces, patterns, limit) => {
        const search = new BodySearch(
          patterns.map((pattern) => Buffer.from(pattern)),
          limit,
        );
        for (const piece of pieces) search.take(Buffer.from(piece));
        const looked = limit === 0 ? pieces.join('') : pieces.join('').slice(0, limit);
        assert.equal(
          search.foundAll,
          patterns.every((pattern) => looked.includes(pattern)),
        );
      },
    ),
  );
});
