/** Compiles the regular expressions of a configuration, within the size that the runtime allows. */
import type {
  RegexMatchAndSubstitute,
  RegexMatcher,
} from '../../../shared/api/generated/envoy/type/matcher/v3/regex.ts';
import { compileRegex, type RegexOptions } from '../../regex/compile-regex.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import { parseSubstitution } from '../../../shared/regex/substitution.ts';
import type { CompiledRegex } from '../../../shared/resources/routes/matchers.ts';
import type { Scope } from '../scope.ts';

/** Undefined after a reported problem. */
export function resolveRegex(
  message: RegexMatcher,
  scope: Scope,
  use: RegexOptions['use'] = 'match',
): CompiledRegex | undefined {
  const own = message.google_re2?.max_program_size;
  const maxProgramSize = own ?? scope.context.maxRegexProgramSize;
  const result = compileRegex(message.regex ?? '', {
    use,
    maxProgramSize,
    isOwnLimit: own !== undefined,
  });
  if (result.ok) return result.regex;
  scope.at('regex').error('regex', result.error);
  return undefined;
}

export interface ResolvedRewrite {
  readonly regex: CompiledRegex;
  readonly substitution: string;
}

/** Undefined after a reported problem. */
export function resolveRewrite(
  message: RegexMatchAndSubstitute,
  scope: Scope,
): ResolvedRewrite | undefined {
  const regex = resolveRegex(message.pattern ?? {}, scope.at('pattern'), 'replace');
  const substitution = message.substitution ?? '';
  const { error } = parseSubstitution(substitution);
  if (error !== undefined) scope.at('substitution').warning('regex', error);
  return regex === undefined ? undefined : { regex, substitution: toByteString(substitution) };
}
