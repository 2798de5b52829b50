import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SocketMatch } from '../../../../shared/resources/clusters/cluster.ts';
import { NO_MATCH, socketOf } from '../../../../shared/resources/clusters/socket-match.ts';
import { cluster } from '../../../support/parts/data-plane.ts';

const BY_TEXT: SocketMatch = { name: 'text', criteria: { tls: 'yes' } };
const BY_BOTH: SocketMatch = { name: 'both', criteria: { tls: 'yes', zone: [1, { a: true }] } };
const ANY: SocketMatch = { name: 'any', criteria: {} };

describe('the transport socket of a host', () => {
  for (const [what, matches, given, name] of [
    ['the only match', [BY_TEXT], { tls: 'yes' }, 'text'],
    ['a match whose criteria are a part of the metadata', [BY_TEXT], { tls: 'yes', x: 1 }, 'text'],
    ['the first of two', [BY_TEXT, BY_BOTH], { tls: 'yes', zone: [1, { a: true }] }, 'text'],
    ['one of structured values', [BY_BOTH, ANY], { tls: 'yes', zone: [1, { a: true }] }, 'both'],
    ['not one of another value', [BY_BOTH, ANY], { tls: 'yes', zone: [1, { a: false }] }, 'any'],
    ['not one of another type', [BY_TEXT], { tls: true }, NO_MATCH],
    ['the cluster’s own without metadata', [BY_TEXT], undefined, NO_MATCH],
    ['a match without criteria, whatever the metadata', [ANY], undefined, 'any'],
    ['the cluster’s own without matches', undefined, { tls: 'yes' }, NO_MATCH],
  ] as const) {
    it(`is ${what}`, () => {
      const resource = {
        ...cluster('up'),
        ...(matches === undefined ? {} : { socketMatches: matches }),
      };
      const metadata = given && { metadata: { 'envoy.transport_socket_match': given } };
      assert.equal(socketOf(resource, metadata ?? {}).name, name);
    });
  }
});
