/** Which headers a service may change. Source: envoy.config.common.mutation_rules.v3. */
import type { CompiledRegex } from '../../routes/matchers.ts';

export interface HeaderMutationRules {
  readonly allowsRouting: boolean;
  readonly allowsEnvoy: boolean;
  readonly disallowsSystem: boolean;
  readonly disallowsAll: boolean;
  readonly allowExpression?: CompiledRegex;
  readonly disallowExpression?: CompiledRegex;
  /** What is not allowed fails the request, instead of being ignored. */
  readonly isError: boolean;
}
