import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HeaderChanges } from '../../../../shared/resources/routes/headers.ts';
import { addition, weightedCluster } from '../../../support/parts/routes.ts';
import { headerMap, requestHeaders, streamInfo } from '../../../support/parts/stream.ts';
import { resolve, lines } from './resolved-route.ts';

describe('header changes', () => {
  const level = (name: string): HeaderChanges => ({
    add: [
      addition('x-app', name),
      addition('x-abs', name, { appendAction: 'ADD_IF_ABSENT' }),
      addition('x-ovr', name, { appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' }),
      addition('x-exi', name, { appendAction: 'OVERWRITE_IF_EXISTS' }),
      addition(`x-${name}`, '%REQ(x-ovr)% %REQ(x-app)%'),
      addition('x-empty', '%REQ(none)%'),
      addition('x-kept', '%REQ(none)%', { keepEmptyValue: true }),
      addition('user-agent', name),
    ],
    remove: [`x-rm-${name}`],
  });
  const levels = { route: level('rt'), virtualHost: level('vh'), table: level('rc') };

  function request() {
    return requestHeaders('/', [
      ['x-exi', 'c'],
      ['x-ovr', 'c'],
      ['user-agent', 'ua'],
      ['x-rm-vh', '1'],
    ]);
  }

  it('go from the route to the table, each level seeing what the one before did', () => {
    const headers = request();
    resolve({}, headers, { levels }).finalizeRequestHeaders(headers, streamInfo(headers), true);
    assert.deepEqual(lines(headers), [
      'user-agent: ua,rt,vh,rc',
      'x-app: rt',
      'x-abs: rt',
      'x-rt: c ',
      'x-kept: ',
      'x-app: vh',
      'x-vh: rt rt',
      'x-kept: ',
      'x-ovr: rc',
      'x-exi: rc',
      'x-app: rc',
      'x-rc: vh rt',
      'x-kept: ',
    ]);
  });

  it('go from the table to the route where the most specific one wins', () => {
    const headers = request();
    resolve({}, headers, { levels: { ...levels, mostSpecificWins: true } }).finalizeRequestHeaders(
      headers,
      streamInfo(headers),
      true,
    );
    assert.equal(headers.get('x-ovr'), 'rt');
    assert.equal(headers.get('x-abs'), 'rc');
    assert.equal(headers.get('user-agent'), 'ua,rc,vh,rt');
  });

  it('let a weighted cluster come first', () => {
    const headers = request();
    const cluster = weightedCluster('up', { requestHeaders: level('wc') });
    const action = {
      cluster: { kind: 'weighted', clusters: [cluster], totalWeight: 1, useHashPolicy: false },
    } as const;
    resolve(action, headers, { levels }).finalizeRequestHeaders(headers, streamInfo(headers), true);
    assert.equal(headers.get('user-agent'), 'ua,wc,rt,vh,rc');
    assert.equal(headers.get('x-abs'), 'wc');
  });

  it('apply to responses alike, with the response’s own joined headers', () => {
    const headers = request();
    const response = headerMap([
      [':status', '200'],
      ['content-type', 't'],
    ]);
    const add = [
      addition('content-type', 'u'),
      addition('set-cookie', 'a'),
      addition('set-cookie', 'b'),
    ];
    const info = streamInfo(headers);
    resolve({}, headers, { levels: { route: { add, remove: [] } } }).finalizeResponseHeaders(
      response,
      info,
    );
    assert.deepEqual(lines(response), ['content-type: t,u', 'set-cookie: a', 'set-cookie: b']);
  });
});
