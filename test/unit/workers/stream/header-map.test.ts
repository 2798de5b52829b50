import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { headerName } from '../../../../workers/stream/header-names.ts';
import { pairs } from '../../../support/peers/http1.ts';

function map(...entries: readonly (readonly [string, string])[]): HeaderMap {
  const headers = new HeaderMap();
  for (const [name, value] of entries) headers.add(name, value);
  return headers;
}

describe('a header map', () => {
  it('keeps entries in order and repeated names apart', () => {
    const headers = map(['a', '1'], ['b', '2'], ['a', '3']);
    assert.equal(headers.count, 3);
    assert.equal(headers.get('a'), '1');
    assert.equal(headers.getAll('a'), '1,3');
    assert.equal(headers.get('c'), undefined);
  });

  it('replaces all entries of a name at the place of the first', () => {
    const headers = map(['a', '1'], ['b', '2'], ['a', '3'], ['c', '4']);
    headers.set('a', 'x');
    assert.deepEqual(pairs(headers), [
      ['a', 'x'],
      ['b', '2'],
      ['c', '4'],
    ]);
    headers.set('d', '5');
    assert.equal(headers.get('d'), '5');
  });

  it('removes every entry of a name and says whether there was one', () => {
    const headers = map(['a', '1'], ['b', '2'], ['a', '3']);
    assert.equal(headers.remove('a'), true);
    assert.equal(headers.remove('a'), false);
    assert.deepEqual(pairs(headers), [['b', '2']]);
  });

  it('appends to what is there', () => {
    const headers = map(['a', '1']);
    headers.append('a', '2');
    headers.append('b', '3');
    headers.append('a', '4', '; ');
    assert.deepEqual(pairs(headers), [
      ['a', '1,2; 4'],
      ['b', '3'],
    ]);
  });

  it('answers pseudo headers by name, host included', () => {
    const headers = map([':method', 'GET'], [':path', '/'], ['host', 'h'], [':status', '204']);
    assert.equal(headers.count, 0);
    assert.equal(headers.get(':authority'), 'h');
    assert.equal(headers.get('host'), 'h');
    assert.equal(headers.status, 204);
    assert.equal(headers.remove('host'), true);
    assert.equal(headers.has(':authority'), false);
  });

  it('keeps original names beside their entries where they are wanted', () => {
    const headers = new HeaderMap();
    headers.originalNames = [];
    headers.addParsed('a', '1', 'A');
    headers.addParsed('b', '2', 'B');
    headers.addParsed('a', '3', 'A');
    headers.remove('a');
    headers.add('c', '4');
    assert.deepEqual(headers.originalNames, ['B', 'c']);
  });
});

describe('header names', () => {
  it('are one object for every spelling of a known name', () => {
    assert.equal(headerName('Content-Type'), headerName('content-type'));
    assert.equal(headerName('X-Some-Thing-New')?.name, 'x-some-thing-new');
    assert.equal(headerName('x-some-thing-new'), headerName('X-Some-Thing-New'));
  });

  it('are tokens', () => {
    for (const raw of ['', 'a b', 'a:', 'a\t', 'é', 'a(', 'a"', 'a\0']) {
      assert.equal(headerName(raw), undefined, raw);
    }
  });

  it('stay right when more have been learned than are kept', () => {
    for (let at = 0; at < 5000; at++) {
      assert.equal(headerName(`X-Flood-${at}`)?.name, `x-flood-${at}`);
    }
    assert.equal(headerName('Accept')?.name, 'accept');
  });
});
