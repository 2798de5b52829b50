/** Entries of rate limit descriptors that extensions make: expressions, inputs, claims of tokens. */
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type {
  RateLimitAction,
  RateLimitEntry,
} from '../../../shared/resources/routes/rate-limits.ts';
import { memberOf } from '../../../shared/text/dictionary.ts';
import { compileCel } from '../../cel/compile-cel.ts';
import { celText } from '../../cel/print.ts';
import { CelFailure } from '../../cel/values.ts';
import { compileMatchInput } from '../../matching/match-inputs.ts';
import { cookieValue } from '../../stream/cookies.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { parseToken } from '../http/jwt-authn/parse-token.ts';

/** `absent` leaves the entry out; undefined gives the descriptor up. */
export type EntryMaker = (
  headers: HeaderMap,
  info: StreamInfo,
) => RateLimitEntry | 'absent' | undefined;

type ActionOf<Kind> = Extract<RateLimitAction, { readonly kind: Kind }>;

export function compileExpression({
  key,
  expression,
  skipIfAbsent,
}: ActionOf<'expression'>): EntryMaker {
  const program = compileCel(expression);
  return (_, info) => {
    const value = program(info);
    if (value instanceof CelFailure) return skipIfAbsent ? 'absent' : undefined;
    return { key, value: celText(value) };
  };
}

export function compileInput({ key, input }: ActionOf<'input'>): EntryMaker {
  const read = compileMatchInput(input);
  return (headers, info) => {
    const value = read(headers, info);
    if (typeof value !== 'string') return undefined;
    return value === '' ? 'absent' : { key, value };
  };
}

export function compileClaim(action: ActionOf<'jwt_claim'>): EntryMaker {
  const { key, place, name, prefix, path, defaultValue, skipIfAbsent } = action;
  return (headers) => {
    const text = place === 'header' ? headers.get(name) : cookieValue(headers, name);
    const claim =
      text?.startsWith(prefix) === true ? claimOf(text.slice(prefix.length), path) : undefined;
    if (claim !== undefined) return { key, value: toByteString(claim) };
    if (defaultValue !== '') return { key, value: defaultValue };
    return skipIfAbsent ? 'absent' : undefined;
  };
}

/** A text of the token's payload; undefined for other values, and for what is no token. */
function claimOf(token: string, path: readonly string[]): string | undefined {
  const parsed = parseToken(token);
  if (typeof parsed === 'string') return undefined;
  let value: unknown = parsed.payload;
  for (const name of path) value = memberOf(value, name);
  return typeof value === 'string' ? value : undefined;
}
