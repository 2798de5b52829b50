/** Resolves envoy.type.matcher.v3.MetadataMatcher and ValueMatcher. */
import type { MetadataMatcher as MetadataMessage } from '../../../shared/api/generated/envoy/type/matcher/v3/metadata.ts';
import type { ValueMatcher as ValueMessage } from '../../../shared/api/generated/envoy/type/matcher/v3/value.ts';
import type { MetadataMatcher, ValueMatcher } from '../../../shared/resources/routes/matchers.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { resolveStringMatcher } from './string-matcher.ts';

const FIELDS = knownFields<MetadataMessage>(['filter', 'path', 'value', 'invert']);
const VALUE_FIELDS = knownFields<ValueMessage>([
  'null_match',
  'double_match',
  'string_match',
  'bool_match',
  'present_match',
  'list_match',
  'or_match',
]);

export function resolveMetadataMatchers(
  messages: readonly MetadataMessage[] | undefined,
  scope: Scope,
): readonly MetadataMatcher[] {
  const matchers = (messages ?? []).map((message, index) =>
    resolveMetadataMatcher(message, scope.at(index)),
  );
  return matchers.filter((matcher) => matcher !== undefined);
}

/** Undefined after a reported problem. */
export function resolveMetadataMatcher(
  message: MetadataMessage,
  scope: Scope,
): MetadataMatcher | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const value = resolveValueMatcher(message.value ?? {}, scope.at('value'));
  if (value === undefined) return undefined;
  return {
    namespace: message.filter ?? '',
    path: (message.path ?? []).map(({ key = '' }) => key),
    value,
    invert: message.invert ?? false,
  };
}

export function resolveValueMatcher(message: ValueMessage, scope: Scope): ValueMatcher | undefined {
  refuseOtherFields(message, VALUE_FIELDS, scope);
  if (message.null_match !== undefined) return { kind: 'null' };
  if (message.bool_match !== undefined) return { kind: 'bool', value: message.bool_match };
  if (message.present_match !== undefined) {
    return { kind: 'present', present: message.present_match };
  }
  if (message.double_match !== undefined) return numberMatcher(message.double_match);
  if (message.string_match !== undefined) {
    const matcher = resolveStringMatcher(message.string_match, scope.at('string_match'));
    return matcher && { kind: 'string', matcher };
  }
  if (message.list_match !== undefined) {
    const item = resolveValueMatcher(
      message.list_match.one_of ?? {},
      scope.at('list_match', 'one_of'),
    );
    return item && { kind: 'list', item };
  }
  const place = scope.at('or_match', 'value_matchers');
  const matchers = (message.or_match?.value_matchers ?? []).map((one, index) =>
    resolveValueMatcher(one, place.at(index)),
  );
  return { kind: 'or', matchers: matchers.filter((matcher) => matcher !== undefined) };
}

function numberMatcher({ exact, range }: NonNullable<ValueMessage['double_match']>): ValueMatcher {
  if (exact !== undefined) return { kind: 'number', exact: Number(exact) };
  return { kind: 'range', start: Number(range?.start ?? 0), end: Number(range?.end ?? 0) };
}
