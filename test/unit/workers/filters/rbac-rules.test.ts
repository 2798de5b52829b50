import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { RbacDecider, RbacRule } from '../../../../shared/resources/filters/common/rbac.ts';
import type { ValueMatcher } from '../../../../shared/resources/routes/matchers.ts';
import { compileRbacDecider } from '../../../../workers/filters/common/rbac-engine.ts';
import { WorkerRuntime } from '../../../../workers/loop/runtime.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';
import { FilterState } from '../../../../workers/net/filter-state.ts';

const METADATA = new Map([
  ['ns', { a: { b: 'v' }, num: 3, list: [1, 'xyz'], yes: true, none: null }],
]);

function decide(decider: RbacDecider, path = '/', headers: readonly [string, string][] = []) {
  const map = requestHeaders(path, headers);
  const info = streamInfo(map);
  info.dynamicMetadata = METADATA;
  info.filterState = new FilterState([['key', '10.1.2.3']]);
  return compileRbacDecider(decider, new WorkerRuntime())(map, info);
}

function allows(permission: RbacRule, path?: string): boolean {
  const policy = { name: 'p', permission, principal: { kind: 'any' } } as const;
  return decide({ kind: 'rules', rules: { action: 'ALLOW', policies: [policy] } }, path).isAllowed;
}

// Recorded from Envoy 1.40.0.
describe('a rule of access control', () => {
  const metadata: readonly (readonly [string[], ValueMatcher, boolean])[] = [
    [
      ['a', 'b'],
      { kind: 'string', matcher: { kind: 'exact', value: 'v', ignoreCase: false } },
      true,
    ],
    [['a'], { kind: 'string', matcher: { kind: 'exact', value: 'v', ignoreCase: false } }, false],
    [['num'], { kind: 'range', start: 1, end: 3 }, false],
    [['num'], { kind: 'range', start: 1, end: 4 }, true],
    [['num'], { kind: 'number', exact: 3 }, true],
    [['list'], { kind: 'list', item: { kind: 'number', exact: 1 } }, true],
    [['yes'], { kind: 'bool', value: true }, true],
    [['none'], { kind: 'null' }, true],
    [['num'], { kind: 'or', matchers: [{ kind: 'null' }, { kind: 'number', exact: 3 }] }, true],
    [['num'], { kind: 'present', present: true }, true],
    [['missing'], { kind: 'present', present: false }, false],
  ];
  for (const [path, value, expected] of metadata) {
    it(`looks into metadata: ${path.join('.')} ${JSON.stringify(value)}`, () => {
      const matcher = { namespace: 'ns', path, value, invert: false };
      assert.equal(allows({ kind: 'metadata', source: 'dynamic', matcher }), expected);
      const inverted = { ...matcher, invert: true };
      assert.equal(allows({ kind: 'metadata', source: 'dynamic', matcher: inverted }), !expected);
    });
  }

  it('compares paths with templates and filter state with addresses', () => {
    const template: RbacRule = { kind: 'path_template', template: '/a/{id}/x' };
    assert.equal(allows(template, '/a/5/x?q'), true);
    assert.equal(allows(template, '/a/5/y'), false);
    const ranges = [{ address: '10.0.0.0', prefixLength: 8 }];
    const match = { kind: 'address', ranges, invert: false } as const;
    assert.equal(allows({ kind: 'filter_state', matcher: { key: 'key', match } }), true);
    assert.equal(allows({ kind: 'filter_state', matcher: { key: 'other', match } }), false);
  });
});

describe('a tree of access control', () => {
  const leaf = (name: string, action: 'ALLOW' | 'DENY' | 'LOG') =>
    ({ kind: 'action', action: { name, action }, keepMatching: false }) as const;
  const decider: RbacDecider = {
    kind: 'tree',
    tree: {
      kind: 'exact',
      input: { kind: 'request_header', name: 'x' },
      branches: [
        { key: 'a', onMatch: leaf('may', 'ALLOW') },
        { key: 'd', onMatch: leaf('may not', 'DENY') },
        { key: 'l', onMatch: leaf('logged', 'LOG') },
      ],
    },
  };

  it('denies what nothing matches, and lets what is logged pass', () => {
    const of = (value: string) => decide(decider, '/', [['x', value]]);
    assert.deepEqual(of('a'), { isAllowed: true, policy: 'may', isLogged: false });
    assert.deepEqual(of('d'), { isAllowed: false, policy: 'may not', isLogged: false });
    assert.deepEqual(of('l'), { isAllowed: true, policy: 'logged', isLogged: true });
    assert.deepEqual(of('z'), { isAllowed: false, policy: undefined, isLogged: undefined });
  });
});
