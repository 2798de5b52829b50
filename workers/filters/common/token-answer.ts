/** Reads what a token server answers (RFC 6749, section 5.1), as protobuf reads JSON. */
import { readStruct } from '../../../shared/text/read-struct.ts';
import type { Struct } from '../../../shared/text/dictionary.ts';

/** The limit of a token server's answer. */
export const ANSWER_BYTES_MAX = 1024 * 1024;

export interface Tokens {
  readonly access: string;
  /** Empty where there is none. */
  readonly id: string;
  readonly refresh: string;
  readonly expiresSeconds: number;
  /** They replace those of a login. */
  readonly isRefreshed: boolean;
}

export type TokenAnswer =
  | { readonly tokens: Omit<Tokens, 'isRefreshed'> }
  /** `reason` may be told upstream. */
  | { readonly reason: string; readonly problem: string };

/** Thrown within this file alone. */
class WrongType extends Error {}

export function readTokenAnswer(body: Buffer, defaultSeconds: number): TokenAnswer {
  const message = body.length === 0 || isNull(body) ? undefined : readStruct(body);
  try {
    if (message === undefined) throw new WrongType('no object');
    const access = text(member(message, 'access_token', 'accessToken'));
    const id = text(member(message, 'id_token', 'idToken')) ?? '';
    const refresh = text(member(message, 'refresh_token', 'refreshToken')) ?? '';
    const expires = wholeNumber(member(message, 'expires_in', 'expiresIn')) ?? defaultSeconds;
    if (access === undefined) return { reason: NO_TOKEN, problem: '' };
    if (expires <= 0) return { reason: NO_EXPIRY, problem: '' };
    return { tokens: { access, id, refresh, expiresSeconds: expires } };
  } catch (error) {
    if (!(error instanceof WrongType)) throw error;
    const problem = `, exception: Unable to parse JSON as proto (${error.message})`;
    return { reason: 'Failed to parse oauth response body', problem };
  }
}

const NO_TOKEN = 'No access token found in the token exchange response';
const NO_EXPIRY =
  'No default or explicit access token expiration found in the token exchange response';

function isNull(body: Buffer): boolean {
  return body.length < 16 && body.toString('latin1').trim() === 'null';
}

function member(message: Struct, name: string, jsonName: string): unknown {
  return message[name] ?? message[jsonName] ?? undefined;
}

/** One character per byte. */
function text(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw new WrongType('a token is no text');
  return Buffer.from(value).toString('latin1');
}

function wholeNumber(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && /^[\d.eE+]+$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) {
    throw new WrongType('expires_in is no whole number');
  }
  return number;
}
