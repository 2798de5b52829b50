import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type {
  MatcherTree,
  MatchInput,
  OnMatch,
} from '../../../../shared/resources/routes/matcher-tree.ts';
import type { StringMatcher } from '../../../../shared/resources/routes/matchers.ts';
import { compileMatcherTree } from '../../../../workers/matching/matcher-tree.ts';
import { WorkerRuntime } from '../../../../workers/loop/runtime.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

type Tree = MatcherTree<string>;

function leaf(action: string, keepMatching = false): OnMatch<string> {
  return { kind: 'action', action, keepMatching };
}

function header(name: string): MatchInput {
  return { kind: 'request_header', name };
}

function exact(value: string): StringMatcher {
  return { kind: 'exact', value, ignoreCase: false };
}

function chosen(tree: Tree, path: string, ...headers: (readonly [string, string])[]) {
  const map = requestHeaders(path, headers);
  const match = compileMatcherTree(tree, (action) => action, new WorkerRuntime());
  return match(map, streamInfo(map));
}

// Recorded from Envoy 1.40.0.
describe('a matcher tree', () => {
  it('looks a value up exactly, several values of a header joined by commas', () => {
    const tree: Tree = {
      kind: 'exact',
      input: header('x'),
      branches: [
        { key: 'a', onMatch: leaf('A') },
        { key: 'c,d', onMatch: leaf('CD') },
      ],
      onNoMatch: leaf('none'),
    };
    assert.equal(chosen(tree, '/', ['x', 'a']), 'A');
    assert.equal(chosen(tree, '/', ['x', 'c'], ['x', 'd']), 'CD');
    assert.equal(chosen(tree, '/', ['x', 'c']), 'none');
    assert.equal(chosen(tree, '/'), 'none');
  });

  it('takes the longest prefix that leads somewhere', () => {
    const inner: Tree = {
      kind: 'exact',
      input: header('x'),
      branches: [{ key: '1', onMatch: leaf('AB') }],
    };
    const tree: Tree = {
      kind: 'prefix',
      input: header(':path'),
      branches: [
        { key: '/', onMatch: leaf('root') },
        { key: '/ab', onMatch: { kind: 'matcher', matcher: inner, keepMatching: false } },
        { key: '/a', onMatch: leaf('A') },
        { key: '/abc', onMatch: leaf('kept', true) },
      ],
    };
    assert.equal(chosen(tree, '/q?/a'), 'root');
    assert.equal(chosen(tree, '/ab', ['x', '1']), 'AB');
    assert.equal(chosen(tree, '/ab'), 'A');
    assert.equal(chosen(tree, '/abcd'), 'A');
  });

  it('tries predicates in order and combines them', () => {
    const x = {
      kind: 'single',
      input: header('x'),
      match: { kind: 'string', matcher: exact('1') },
    } as const;
    const y = {
      kind: 'single',
      input: header('y'),
      match: { kind: 'string', matcher: exact('1') },
    } as const;
    const tree: Tree = {
      kind: 'list',
      matchers: [
        { predicate: { kind: 'and', predicates: [x, y] }, onMatch: leaf('both') },
        { predicate: { kind: 'not', predicate: x }, onMatch: leaf('no x') },
        { predicate: { kind: 'or', predicates: [x, y] }, onMatch: leaf('some') },
      ],
    };
    assert.equal(chosen(tree, '/', ['x', '1'], ['y', '1']), 'both');
    assert.equal(chosen(tree, '/', ['y', '1']), 'no x');
    assert.equal(chosen(tree, '/', ['x', '1']), 'some');
  });

  it('takes the narrowest range of addresses; an exclusive one stands aside for narrower ones', () => {
    const range = (address: string, prefixLength: number) => [{ address, prefixLength }];
    const tree: Tree = {
      kind: 'address',
      input: header('ip'),
      branches: [
        { ranges: range('10.0.0.0', 8), onMatch: leaf('ten'), exclusive: false },
        { ranges: range('10.1.0.0', 16), onMatch: leaf('one', true), exclusive: false },
        { ranges: range('11.0.0.0', 8), onMatch: leaf('eleven'), exclusive: true },
        { ranges: range('11.1.0.0', 16), onMatch: leaf('two', true), exclusive: false },
      ],
    };
    assert.equal(chosen(tree, '/', ['ip', '10.1.2.3']), 'ten');
    assert.equal(chosen(tree, '/', ['ip', '11.1.2.3']), undefined);
    assert.equal(chosen(tree, '/', ['ip', '11.2.2.3']), 'eleven');
    assert.equal(chosen(tree, '/', ['ip', 'elsewhere']), undefined);
  });
});
