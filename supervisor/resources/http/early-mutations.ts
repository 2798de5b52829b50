/** Resolves the extensions that change requests before anything else is done with them. */
import type { HeaderMutation } from '../../../shared/api/generated/envoy/extensions/http/early_header_mutation/header_mutation/v3/header_mutation.ts';
import type { HeaderMutationRule } from '../../../shared/resources/filters/http/header-mutation.ts';
import { extension, ExtensionRegistry, type ExtensionMessage } from '../extensions.ts';
import { resolveHeaderRules } from '../filters/http/header-mutation.ts';
import type { Scope } from '../scope.ts';

export const EARLY_MUTATIONS = new ExtensionRegistry<readonly HeaderMutationRule[]>(
  'envoy.http.early_header_mutation',
  'early header mutation',
  [
    extension(
      'envoy.http.early_header_mutation.header_mutation',
      'envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation',
      ({ mutations }: HeaderMutation, scope) =>
        resolveHeaderRules(mutations, scope.at('mutations')),
    ),
  ],
);

export function resolveEarlyMutations(
  messages: readonly ExtensionMessage[] | undefined,
  scope: Scope,
): readonly HeaderMutationRule[] | undefined {
  return messages?.flatMap(
    (message, index) => EARLY_MUTATIONS.resolve(message, scope.at(index)) ?? [],
  );
}
