/**
 * Cookies of a login of oauth2 that were changed at random: nothing throws, and nobody is logged in
 * but by the values that were signed.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { OAuth2Options } from '../../../shared/resources/filters/http/auth/oauth2.ts';
import type { Crypto, OAuth2Config } from '../../../workers/filters/http/oauth2/config.ts';
import { Session } from '../../../workers/filters/http/oauth2/session.ts';
import { HeaderMap } from '../../../workers/stream/header-map.ts';
import { attackParameters } from '../../support/attack.ts';

const NOW_SECONDS = 1_800_000_000;
const TOKENS = { access: `the-access-${'a'.repeat(300)}`, id: 'the-id', refresh: 'the-refresh' };
const KINDS = ['bearer', 'id', 'refresh'] as const;
const SIGNED = { bearer: TOKENS.access, id: TOKENS.id, refresh: TOKENS.refresh };

const NAMES = {
  bearer: 'BearerToken',
  hmac: 'OauthHMAC',
  expires: 'OauthExpires',
  id: 'IdToken',
  refresh: 'RefreshToken',
  nonce: 'OauthNonce',
  verifier: 'CodeVerifier',
};

function configOf(encryptsTokens: boolean, chunks: boolean): OAuth2Config {
  const cookie = (name: string): object => ({ name, path: '/', attributes: '' });
  const cookies = Object.fromEntries(
    Object.entries(NAMES).map(([kind, name]) => [kind, cookie(name)]),
  );
  const limits = chunks ? { chunks: { bytesMax: 120, countMax: 16 } } : {};
  const options = {
    cookies: { ...cookies, domain: '', ...limits },
    keeps: { access: true, id: true, refresh: true },
    encryptsTokens,
    usesRefresh: true,
    refreshExpirySeconds: 1000,
    idTokenEndsWithAccess: true,
  } as unknown as OAuth2Options;
  return { options, count: () => undefined } as unknown as OAuth2Config;
}

function sessionOf(config: OAuth2Config, crypto: Crypto, cookies: Jar): Session {
  const headers = new HeaderMap();
  headers.authority = 'shop.test';
  const text = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  headers.add('cookie', text);
  return new Session(config, crypto, headers);
}

type Jar = ReadonlyMap<string, string>;

/** What a browser keeps of a login. */
function loggedIn(config: OAuth2Config, crypto: Crypto): Jar {
  const session = sessionOf(config, crypto, new Map());
  const tokens = { ...TOKENS, expiresSeconds: 600, isRefreshed: false };
  const texts = session.keep(tokens as Parameters<Session['keep']>[0], NOW_SECONDS) ?? [];
  return new Map(
    texts.map((text) => {
      const pair = text.slice(0, text.indexOf(';'));
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  );
}

const KINDS_OF_COOKIES = [false, true].flatMap((encrypts) =>
  [false, true].flatMap((chunks) =>
    [false, true].map((usesGcm) => {
      const config = configOf(encrypts, chunks);
      const hmacSecret = randomBytes(32).toString('latin1');
      const crypto = { clientSecret: 'x', hmacSecret, usesGcm, allowsCbc: true };
      return { config, crypto, jar: loggedIn(config, crypto) };
    }),
  ),
);

const character = fc.constantFrom(...'.=-_+/Aa0gcm%~"'.split(''));
const piece = fc.string({ unit: character, maxLength: 8 });
const change = fc.record({
  login: fc.constantFrom(...KINDS_OF_COOKIES),
  which: fc.nat(),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.integer({ min: 0, max: 60 }),
  added: piece,
  /** Also taken from another login, or given another name. */
  swapped: fc.option(fc.constantFrom(...KINDS_OF_COOKIES)),
  renamed: fc.option(
    fc.constantFrom(...Object.values(NAMES), 'IdToken_0', 'IdToken_chunks', '__proto__'),
  ),
});

describe('attacks by cookies of a login', () => {
  it('knows every login by its own cookies', () => {
    for (const { config, crypto, jar } of KINDS_OF_COOKIES) {
      const session = sessionOf(config, crypto, jar);
      assert.equal(session.isLoggedIn(NOW_SECONDS), true);
      for (const kind of KINDS) assert.equal(session.token(kind), SIGNED[kind]);
      assert.equal(session.isLoggedIn(NOW_SECONDS + 601), false);
    }
  });

  it('logs nobody in by changed cookies', () => {
    fc.assert(
      fc.property(change, ({ login, which, at, removed, added, swapped, renamed }) => {
        const { config, crypto, jar } = login;
        const changed = new Map(jar);
        const name = [...jar.keys()][which % jar.size] ?? '';
        const value = (swapped?.jar ?? jar).get(name) ?? '';
        const place = Math.floor(at * value.length);
        changed.set(renamed ?? name, value.slice(0, place) + added + value.slice(place + removed));
        const session = sessionOf(config, crypto, changed);
        if (!session.isLoggedIn(NOW_SECONDS)) return;
        for (const kind of KINDS) assert.equal(session.token(kind), SIGNED[kind]);
        assert.equal(session.isLoggedIn(NOW_SECONDS + 601), false);
      }),
      attackParameters(5000, 100_000),
    );
  });
});
