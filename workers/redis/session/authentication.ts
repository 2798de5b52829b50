/**
 * Whether a client may send commands: it has to show one of the passwords of the configuration, or
 * one that a service agrees to. Passwords are compared in constant time.
 */
import { timingSafeEqual } from 'node:crypto';
import type { RedisDownstreamAuth } from '../../../shared/resources/filters/network/redis-proxy.ts';
import { errorValue, OK, type RespValue } from '../codec/resp-value.ts';

/** The user name of a client that shows a password alone. */
const DEFAULT_USER = 'default';
export const WRONG_PASSWORD = 'WRONGPASS invalid username-password pair';
const NO_PASSWORD = 'ERR Client sent AUTH, but no password is set';
export const NO_PAIR = 'ERR Client sent AUTH, but no username-password pair is set';

export class Passwords {
  readonly #auth: RedisDownstreamAuth | undefined;
  readonly #passwords: readonly Buffer[];

  constructor(auth: RedisDownstreamAuth | undefined) {
    this.#auth = auth;
    this.#passwords = (auth?.passwords ?? []).map((password) => Buffer.from(password, 'latin1'));
  }

  /** Clients need none. */
  get areNone(): boolean {
    return this.#auth === undefined;
  }

  /** AUTH with a password alone: the answer, and with OK the client is in. */
  checkPassword(password: string): RespValue {
    if (this.#passwords.length === 0) return errorValue(NO_PASSWORD);
    return this.#isOne(password) ? OK : errorValue('ERR invalid password');
  }

  checkPair(username: string, password: string): RespValue {
    if (this.#auth === undefined) return errorValue(NO_PAIR);
    const { username: wanted } = this.#auth;
    const isUser =
      wanted === '' ? username === '' || username === DEFAULT_USER : username === wanted;
    return this.#isOne(password) && isUser ? OK : errorValue(WRONG_PASSWORD);
  }

  #isOne(password: string): boolean {
    const shown = Buffer.from(password, 'latin1');
    let isOne = false;
    for (const each of this.#passwords) {
      if (each.length === shown.length && timingSafeEqual(each, shown)) isOne = true;
    }
    return isOne;
  }
}
