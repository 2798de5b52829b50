/**
 * Tokens that are too long for one cookie: `NAME_0`, `NAME_1`, … hold them in pieces, and
 * `NAME_chunks` says how many there are.
 */
import type {
  CookieOptions,
  OAuth2Cookies,
} from '../../../../shared/resources/filters/http/auth/oauth2.ts';
import { cookieTail, type CookieValue, deletion } from './cookie-texts.ts';

/** The limit of one token, whatever is configured. */
const CHUNKS_MAX = 16;
const CHUNKS_MIN = 2;
/** Room for the longest name of a piece. */
const LAST_NAME = `_${CHUNKS_MAX - 1}`;

/** What a request has of a token. */
export interface Found {
  /** Empty when there is none, or nothing usable. */
  readonly value: string;
  readonly isWhole: boolean;
  /** Pieces that may be there, with their count; 0 when there is none. */
  readonly chunks: number;
  readonly state: 'none' | 'reassembled' | 'malformed';
}

/** Takes the pieces out of `cookies`. */
export function takeToken(cookies: Map<string, string>, name: string): Found {
  const whole = cookies.get(name);
  const countText = cookies.get(`${name}_chunks`);
  const pieces: (string | undefined)[] = [];
  for (let at = 0; at < CHUNKS_MAX; at++) {
    pieces.push(cookies.get(`${name}_${at}`));
    cookies.delete(`${name}_${at}`);
  }
  cookies.delete(`${name}_chunks`);
  const isWhole = whole !== undefined;
  if (countText === undefined) {
    return { value: whole ?? '', isWhole, chunks: 0, state: 'none' };
  }
  const count = /^\d{1,3}$/.test(countText) ? Number(countText) : 0;
  const wanted = pieces.slice(0, count);
  const isGood =
    count >= CHUNKS_MIN &&
    count <= CHUNKS_MAX &&
    wanted.every((piece) => piece !== undefined && piece !== '');
  if (!isGood) return { value: whole ?? '', isWhole, chunks: CHUNKS_MAX, state: 'malformed' };
  return { value: wanted.join(''), isWhole, chunks: count, state: 'reassembled' };
}

/** Deletes what a client still has of a token. */
export function tokenDeletions(
  cookies: OAuth2Cookies,
  cookie: CookieOptions,
  { isWhole, chunks }: Found,
): readonly string[] {
  const whole = isWhole ? [deletion(cookies, cookie, cookie.name)] : [];
  return [...whole, ...chunkDeletions(cookies, cookie, 0, chunks)];
}

export function chunkDeletions(
  cookies: OAuth2Cookies,
  cookie: CookieOptions,
  from: number,
  to: number,
): readonly string[] {
  const names: string[] = [];
  if (from === 0 && to > 0) names.push(`${cookie.name}_chunks`);
  for (let at = from; at < to; at++) names.push(`${cookie.name}_${at}`);
  return names.map((name) => deletion(cookies, cookie, name));
}

/** The cookies of a token; undefined when it needs too many. */
export function tokenCookies(
  cookies: OAuth2Cookies,
  cookie: CookieOptions,
  { value, seconds }: CookieValue,
  { isWhole, chunks }: Found,
): { readonly texts: readonly string[]; readonly isCut: boolean } | undefined {
  const { name } = cookie;
  const tail = cookieTail(cookies, cookie, seconds);
  const one = `${name}=${value}${tail}`;
  const limits = cookies.chunks;
  if (limits === undefined || one.length <= limits.bytesMax) {
    return { texts: [...chunkDeletions(cookies, cookie, 0, chunks), one], isCut: false };
  }
  const room = limits.bytesMax - name.length - LAST_NAME.length - 1 - tail.length;
  const count = room > 0 ? Math.ceil(value.length / room) : Number.POSITIVE_INFINITY;
  if (count > limits.countMax) return undefined;
  const texts = isWhole ? [deletion(cookies, cookie, name)] : [];
  texts.push(...chunkDeletions(cookies, cookie, count, chunks));
  for (let at = 0; at < count; at++) {
    texts.push(`${name}_${at}=${value.slice(at * room, (at + 1) * room)}${tail}`);
  }
  texts.push(`${name}_chunks=${count}${tail}`);
  return { texts, isCut: true };
}
