/** Resolves what RBAC decides by, for requests and for connections: rules, or a tree in their place. */
import { typeNameOf } from '../../../config/type-name.ts';
import type {
  Action,
  RBAC as RbacRulesMessage,
} from '../../../../shared/api/generated/envoy/config/rbac/v3/rbac.ts';
import type { Matcher } from '../../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import type { RbacAction, RbacDecider } from '../../../../shared/resources/filters/common/rbac.ts';
import { extension, ExtensionRegistry } from '../../extensions.ts';
import { resolveMatcherTree } from '../../matchers/matcher-tree.ts';
import type { Scope } from '../../scope.ts';
import { resolveRbacRules } from './rbac-rules.ts';

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

const NETWORK_INPUTS = 'envoy.extensions.matching.common_inputs.network.v3';
const HTTP_INPUTS = 'envoy.type.matcher.v3';

/** What a filter decides about, and the inputs that have no meaning for it, as in Envoy. */
interface RbacSubject {
  readonly verb: string;
  readonly refusedInputs: ReadonlySet<string>;
}

const REFUSED_FOR_REQUESTS: readonly string[] = [
  `${NETWORK_INPUTS}.SourceTypeInput`,
  `${HTTP_INPUTS}.HttpRequestQueryParamMatchInput`,
  `${HTTP_INPUTS}.HttpRequestTrailerMatchInput`,
  `${HTTP_INPUTS}.HttpResponseHeaderMatchInput`,
  `${HTTP_INPUTS}.HttpResponseTrailerMatchInput`,
  `${HTTP_INPUTS}.HttpResponseStatusCodeMatchInput`,
  `${HTTP_INPUTS}.HttpResponseStatusCodeClassMatchInput`,
];

export const RBAC_REQUESTS: RbacSubject = {
  verb: 'RBAC HTTP filter cannot match on',
  refusedInputs: new Set(REFUSED_FOR_REQUESTS),
};

export const RBAC_CONNECTIONS: RbacSubject = {
  verb: 'RBAC network filter cannot match',
  refusedInputs: new Set([
    ...REFUSED_FOR_REQUESTS,
    `${NETWORK_INPUTS}.DynamicMetadataInput`,
    `${HTTP_INPUTS}.HttpRequestHeaderMatchInput`,
    'xds.type.matcher.v3.HttpAttributesCelMatchInput',
  ]),
};

const VIOLATION = 'requirement violation while creating RBAC match tree: INVALID_ARGUMENT';

/** What both filters' messages hold. */
interface RbacMessage {
  readonly rules?: RbacRulesMessage;
  readonly shadow_rules?: RbacRulesMessage;
  readonly matcher?: Matcher;
  readonly shadow_matcher?: Matcher;
}

/** A tree wins over rules. */
export function resolveRbacDecider(
  message: RbacMessage,
  prefix: '' | 'shadow_',
  subject: RbacSubject,
  scope: Scope,
): RbacDecider | undefined {
  const rules = message[`${prefix}rules`];
  const matcher = message[`${prefix}matcher`];
  if (matcher !== undefined) return resolveTree(matcher, subject, scope.at(`${prefix}matcher`));
  if (rules === undefined) return undefined;
  return { kind: 'rules', rules: resolveRbacRules(rules, scope.at(`${prefix}rules`)) };
}

/** Undefined after a reported problem. */
function resolveTree(
  message: Matcher,
  { verb, refusedInputs }: RbacSubject,
  scope: Scope,
): RbacDecider | undefined {
  const tree = resolveMatcherTree(
    message,
    {
      resolveAction: (action, place) => ACTIONS.resolve(action, place),
      checkInput(typeUrl, place) {
        if (!refusedInputs.has(typeNameOf(typeUrl))) return;
        place.error('conflict', `${VIOLATION}: ${verb} '${typeUrl}'`);
      },
      keepMatchingProblem: `${VIOLATION}: keep_matching is not supported in this context`,
    },
    scope,
  );
  return tree && { kind: 'tree', tree };
}
