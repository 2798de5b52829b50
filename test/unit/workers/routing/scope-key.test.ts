import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ScopeKeyFragment } from '../../../../shared/resources/routes/scoped-routes.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { joinScopeKey, scopeKeyOf } from '../../../../workers/routing/scope-key.ts';

const element = (key: string, separator = '='): ScopeKeyFragment['element'] => ({
  kind: 'key',
  key,
  separator,
});
const index = (at: number): ScopeKeyFragment['element'] => ({ kind: 'index', index: at });

// Recorded from Envoy 1.40.0, but for the second separator.
const KEYS: readonly {
  readonly value: string | undefined;
  readonly separator: string;
  readonly element: ScopeKeyFragment['element'];
  readonly key: string | undefined;
}[] = [
  { value: 'v=a', separator: ';', element: element('v'), key: 'a' },
  { value: 'k=1;v=b', separator: ';', element: element('v'), key: 'b' },
  { value: 'z=b;v=a;v=q', separator: ';', element: element('v'), key: 'a' },
  { value: 'v', separator: ';', element: element('v'), key: '' },
  { value: 'v=', separator: ';', element: element('v'), key: '' },
  { value: 'v=a=b', separator: ';', element: element('v'), key: 'a=b' },
  { value: 'v::a', separator: ';', element: element('v', '::'), key: 'a' },
  { value: 'w=a', separator: ';', element: element('v'), key: undefined },
  { value: undefined, separator: ';', element: element('v'), key: undefined },
  { value: 'a,b,c', separator: ',', element: index(1), key: 'b' },
  { value: 'a', separator: ',', element: index(1), key: undefined },
  { value: 'a,b', separator: '', element: index(0), key: 'a,b' },
];

describe('the key of a scope', () => {
  for (const { value, separator, element: wanted, key } of KEYS) {
    const name = wanted.kind === 'index' ? `element ${wanted.index}` : `element ${wanted.key}`;
    it(`is ${key ?? 'missing'} for ${name} of ${value ?? 'no header'}`, () => {
      const headers = new HeaderMap();
      if (value !== undefined) headers.add('x-scope', value);
      assert.equal(scopeKeyOf([{ header: 'x-scope', separator, element: wanted }], headers), key);
    });
  }

  it('has all its fragments in their order, or is missing', () => {
    const fragments = ['x-a', 'x-b'].map((header) => ({
      header,
      separator: '',
      element: index(0),
    }));
    const headers = new HeaderMap();
    headers.add('x-b', 'b');
    assert.equal(scopeKeyOf(fragments, headers), undefined);
    headers.add('x-a', 'a');
    assert.equal(scopeKeyOf(fragments, headers), joinScopeKey(['a', 'b']));
  });
});
