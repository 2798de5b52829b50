import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  checkPathTemplate,
  rewriteVariables,
} from '../../../../supervisor/resources/routes/check-path-template.ts';

// Recorded from Envoy 1.40.0.
describe('path templates', () => {
  it('are accepted in every form that Envoy accepts', () => {
    const accepted: Readonly<Record<string, readonly string[]>> = {
      '/': [],
      '/a/{b}/**': ['b'],
      '/**/a': [],
      '/a/{b=**}/c': ['b'],
      '/{b=x/*}': ['b'],
      '/{a}.m3u8': ['a'],
      '/a*': [],
      '/a/**.m3u8': [],
      '/a/**/': [],
    };
    for (const [template, variables] of Object.entries(accepted)) {
      assert.deepEqual(checkPathTemplate(template), { ok: true, variables }, template);
    }
  });

  it('are refused in Envoy’s words', () => {
    const refused: Readonly<Record<string, string>> = {
      'a/b': 'Invalid pattern: "a/b"',
      '/a b': 'Invalid pattern: "/a b"',
      '/a/{b=**}/{c=**}': 'Glob after text glob.',
      '/a/{b': 'Unmatched variable bracket in mixed pattern: "{b"',
      '/a/}b': 'Invalid literal: "}b"',
      '/a/{b}/{b}': 'Repeated variable name: "b"',
      '/{}/a': 'Invalid variable name: ""',
      '/{b=}/a': 'Empty variable match',
      '/{b-c}': 'Invalid variable name: "b-c"',
      '/{1a}': 'Invalid variable name: "1a"',
      '/{b=/x}': 'Invalid literal: ""',
      '/{a}{b}': 'Invalid suffix literal: "{b}"',
      '/{a={b}}': 'Invalid suffix literal: "}"',
      '/a//b': 'Invalid literal: ""',
      '/?': 'Invalid literal: "?"',
      '/{abcdefghijklmnopq}':
        'Invalid variable name length (length of "abcdefghijklmnopq" should be at least 1 and no more than 16)',
    };
    for (const [template, error] of Object.entries(refused)) {
      assert.deepEqual(checkPathTemplate(template), { ok: false, error }, template);
    }
  });

  it('take variables alone where paths are rewritten', () => {
    assert.deepEqual(rewriteVariables('/x/{b}'), ['b']);
    assert.deepEqual(rewriteVariables('/{b}{b}'), ['b', 'b']);
    assert.deepEqual(rewriteVariables('/x/*'), []);
    for (const template of ['x/{b}', '/x/{b', '/x y', '/x/b}', '/x/{b=*}', '/{b}?x=1']) {
      assert.equal(rewriteVariables(template), undefined, template);
    }
  });
});
