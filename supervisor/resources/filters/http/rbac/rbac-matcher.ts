/** Resolves the trees that RBAC decides by in place of rules. */
import { typeNameOf } from '../../../../config/type-name.ts';
import type { Action } from '../../../../../shared/api/generated/envoy/config/rbac/v3/rbac.ts';
import type { Matcher } from '../../../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import type {
  RbacAction,
  RbacDecider,
} from '../../../../../shared/resources/filters/common/rbac.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import { resolveMatcherTree } from '../../../matchers/matcher-tree.ts';
import type { Scope } from '../../../scope.ts';

const ACTIONS = new ExtensionRegistry<RbacAction>('envoy.matching.action', 'RBAC action', [
  extension(
    'envoy.filters.rbac.action',
    'envoy.config.rbac.v3.Action',
    ({ name = '', action = 'ALLOW' }: Action): RbacAction => ({
      name,
      action: typeof action === 'string' ? action : 'ALLOW',
    }),
  ),
]);

/** Inputs that have no meaning for requests here, as in Envoy. */
const REFUSED_INPUTS: ReadonlySet<string> = new Set([
  'envoy.type.matcher.v3.HttpRequestQueryParamMatchInput',
  'envoy.extensions.matching.common_inputs.network.v3.SourceTypeInput',
  'envoy.type.matcher.v3.HttpRequestTrailerMatchInput',
  'envoy.type.matcher.v3.HttpResponseHeaderMatchInput',
  'envoy.type.matcher.v3.HttpResponseTrailerMatchInput',
  'envoy.type.matcher.v3.HttpResponseStatusCodeMatchInput',
  'envoy.type.matcher.v3.HttpResponseStatusCodeClassMatchInput',
]);

const VIOLATION = 'requirement violation while creating RBAC match tree: INVALID_ARGUMENT';

/** Undefined after a reported problem. */
export function resolveRbacMatcher(message: Matcher, scope: Scope): RbacDecider | undefined {
  const tree = resolveMatcherTree(
    message,
    {
      resolveAction: (action, place) => ACTIONS.resolve(action, place),
      checkInput(typeUrl, place) {
        if (!REFUSED_INPUTS.has(typeNameOf(typeUrl))) return;
        place.error('conflict', `${VIOLATION}: RBAC HTTP filter cannot match on '${typeUrl}'`);
      },
      keepMatchingProblem: `${VIOLATION}: keep_matching is not supported in this context`,
    },
    scope,
  );
  return tree && { kind: 'tree', tree };
}
