/** Types of content that are compressed. */
import { compileStringMatcher } from '../../../../shared/matchers/string-matcher.ts';
import type { CompressionDirection } from '../../../../shared/resources/filters/http/compressor.ts';

export type TypeMatcher = (type: string) => boolean;

export function typeMatcher({ contentTypes, typeMatchers }: CompressionDirection): TypeMatcher {
  if (typeMatchers.length === 0) return (type) => contentTypes.includes(type.toLowerCase());
  const matchers = typeMatchers.map((matcher) => compileStringMatcher(matcher));
  return (type) => matchers.some((matches) => matches(type));
}

/** Without a content type everything is allowed. */
export function isTypeAllowed(
  contentType: string | undefined,
  matches: TypeMatcher | undefined,
): boolean {
  if (contentType === undefined || contentType === '') return true;
  const [type = ''] = contentType.split(';', 1);
  return matches?.(type.trim()) === true;
}
