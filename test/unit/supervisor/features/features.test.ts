/** The table of extensions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { features } from '../../../../supervisor/features/features.ts';
import { knownExtensions } from '../../../../supervisor/resources/known-extensions.ts';

test('every extension that a registry has is served in the table', () => {
  const served = new Set(features().flatMap(({ isServed, types }) => (isServed ? types : [])));
  const missing = knownExtensions().filter(({ type }) => !served.has(type));
  assert.deepEqual(missing, []);
});

test('an extension is refused when no registry has its messages', () => {
  const known = new Set(knownExtensions().map(({ type }) => type));
  const refused = features().filter(({ isServed }) => !isServed);
  assert.ok(refused.length > 0);
  for (const { name, types } of refused) {
    assert.ok(!types.some((type) => known.has(type)), name);
  }
});

test('what needs QUIC says so', () => {
  const quic = features().find(({ name }) => name === 'envoy.transport_sockets.quic');
  assert.match(quic?.advice ?? '', /no QUIC/);
});

test('every refused filter of bytes and datagrams says what to do instead', () => {
  const bytes = /^envoy\.(filters\.(network|listener|udp)|transport_sockets)/;
  const refused = features().filter(({ category, isServed }) => !isServed && bytes.test(category));
  assert.ok(refused.length > 0);
  const silent = refused.filter(({ advice }) => advice === undefined);
  assert.deepEqual(
    silent.map(({ name }) => name),
    [],
  );
});
