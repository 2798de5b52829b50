/** Resolves envoy.config.common.mutation_rules.v3.HeaderMutationRules. */
import type { HeaderMutationRules as Message } from '../../../../shared/api/generated/envoy/config/common/mutation_rules/v3/mutation_rules.ts';
import type { HeaderMutationRules } from '../../../../shared/resources/filters/common/mutation-rules.ts';
import { resolveRegex } from '../../matchers/regex.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';

export function resolveMutationRules(message: Message, scope: Scope): HeaderMutationRules {
  const { allow_expression: allow, disallow_expression: disallow } = message;
  return {
    allowsRouting: message.allow_all_routing ?? false,
    allowsEnvoy: message.allow_envoy ?? false,
    disallowsSystem: message.disallow_system ?? false,
    disallowsAll: message.disallow_all ?? false,
    isError: message.disallow_is_error ?? false,
    ...optional('allowExpression', allow && resolveRegex(allow, scope.at('allow_expression'))),
    ...optional(
      'disallowExpression',
      disallow && resolveRegex(disallow, scope.at('disallow_expression')),
    ),
  };
}
