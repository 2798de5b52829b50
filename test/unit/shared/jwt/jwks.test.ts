/** Key sets as people write them into configurations. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { readJwks } from '../../../../shared/jwt/jwks.ts';

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
const jwk = publicKey.export({ format: 'jwk' });
const read = (text: string): ReturnType<typeof readJwks> => readJwks(Buffer.from(text));

test('line ends and blanks inside a number are skipped', () => {
  const n = String(jwk.n).replace(/(.{20})/g, '$1\n    ');
  const result = read(`{"keys": [{"kty": "RSA", "n": "${n}", "e": "${jwk.e}"}]}`);
  assert.ok('keys' in result, JSON.stringify(result));
  assert.ok(result.keys[0]?.key.equals(publicKey));
});

test('a control character in a name is part of it', () => {
  const result = read(`{"keys": [{"kty": "oct", "kid": "a\tb\\"", "k": "c2VjcmV0"}]}`);
  assert.ok('keys' in result, JSON.stringify(result));
  assert.equal(result.keys[0]?.kid, 'a\tb"');
});

for (const text of ['{"keys": [', '{"keys": "\n', "{'keys': []}", '[]', '"\n"']) {
  test(`${JSON.stringify(text)} is no key set`, () => {
    assert.deepEqual(read(text), { problem: 'Jwks is an invalid JSON' });
  });
}
