/**
 * Tokens and key sets that were changed at random: nothing throws, and nothing is let in that
 * another implementation (jose) would not let in.
 */
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { importJWK, type JWK, jwtVerify } from 'jose';
import { readJwks, type VerificationKey } from '../../shared/jwt/jwks.ts';
import { parseToken } from '../../workers/filters/http/jwt-authn/parse-token.ts';
import { verifySignature } from '../../workers/filters/http/jwt-authn/verify-signature.ts';
import { attackParameters } from '../support/attack.ts';
import { jwks, makeSigner } from '../support/parts/tokens.ts';

const CLAIMS = { iss: 'issuer', sub: 'alice', exp: 4_102_444_800 };
const signers = ['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA', 'HS256'].map((alg) =>
  makeSigner(alg, { kid: alg }),
);
const imported = new Map(
  await Promise.all(
    signers.map(async ({ alg, kid, jwk }) => [kid, await importJWK(jwk as JWK, alg)] as const),
  ),
);
const keys = keysOf(Buffer.from(jwks(signers)));
const tokens = signers.map((signer) => signer.sign(CLAIMS));

function keysOf(bytes: Buffer): readonly VerificationKey[] {
  const read = readJwks(bytes);
  return 'keys' in read ? read.keys : [];
}

function isLetIn(token: string, by: readonly VerificationKey[]): boolean {
  const parsed = parseToken(token);
  return typeof parsed !== 'string' && verifySignature(parsed, by) === 'ok';
}

/** By the other implementation, which wants no blanks, padding or empty parts. */
async function isGoodElsewhere(token: string): Promise<boolean> {
  const parts = token.split('.').filter((part) => part !== '');
  const bare = parts.map((part) => part.replace(/[\s=]/g, '')).join('.');
  try {
    await jwtVerify(bare, ({ kid = '' }) => imported.get(kid) ?? new Uint8Array());
    return true;
  } catch {
    return false;
  }
}

const character = fc.constantFrom(...'.=-_ \t+/Aa0"{}\u00ff'.split(''));
const change = fc.record({
  token: fc.constantFrom(...tokens),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.integer({ min: 0, max: 40 }),
  added: fc.string({ unit: character, maxLength: 6 }),
});
const header = fc.record(
  {
    alg: fc.oneof(
      fc.constantFrom('RS256', 'HS256', 'ES256', 'EdDSA', 'none', 'PS384', 'rs256'),
      fc.jsonValue(),
    ),
    kid: fc.oneof(fc.constantFrom(...signers.map(({ kid }) => kid)), fc.jsonValue()),
    jwk: fc.constant(makeSigner('RS256').jwk),
  },
  { requiredKeys: [] },
);

describe('attacks by tokens', () => {
  it('lets no changed token in that another implementation refuses', async () => {
    await fc.assert(
      fc.asyncProperty(change, async ({ token, at, removed, added }) => {
        const place = Math.floor(at * token.length);
        const changed = token.slice(0, place) + added + token.slice(place + removed);
        if (!isLetIn(changed, keys)) return;
        assert.ok(await isGoodElsewhere(changed), changed);
      }),
      attackParameters(2000, 100_000),
    );
  });

  it('lets nothing in that is signed by nobody, whatever its header says', () => {
    const stranger = makeSigner('RS256');
    const publicPem = createPublicKey(signers[0]?.publicPem ?? '').export({
      format: 'pem',
      type: 'spki',
    });
    const forger = makeSigner('HS256', { secret: Buffer.from(publicPem) });
    // RSA signs as slowly as forty others together.
    const by = fc.oneof(
      { weight: 1, arbitrary: fc.constant(stranger) },
      { weight: 9, arbitrary: fc.constantFrom(makeSigner('ES256'), forger) },
    );
    fc.assert(
      fc.property(header, by, fc.jsonValue(), (head, signer, body) => {
        const payload = typeof body === 'object' && body !== null ? body : CLAIMS;
        assert.equal(isLetIn(signer.sign(payload, head), keys), false);
      }),
      attackParameters(1000, 100_000),
    );
  });

  it('reads any set of keys without an exception, and takes no strange key', () => {
    const member = fc.constantFrom(
      'kty',
      'kid',
      'alg',
      'n',
      'e',
      'k',
      'crv',
      'x',
      'y',
      '__proto__',
    );
    const value = fc.oneof(
      fc.constantFrom('RSA', 'EC', 'oct', 'OKP', 'RS256', 'HS256', 'P-256', 'Ed25519', 'AQAB', ''),
      fc.jsonValue(),
    );
    const jwk = fc.dictionary(member, value, { maxKeys: 8 });
    const text = fc.oneof(
      fc.record({ keys: fc.array(jwk, { maxLength: 4 }) }).map((each) => JSON.stringify(each)),
      fc.json(),
      fc.string({ unit: 'binary', maxLength: 60 }),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(...tokens), (given, token) => {
        assert.equal(isLetIn(token, keysOf(Buffer.from(given))), false);
      }),
      attackParameters(2000, 100_000),
    );
  });
});
