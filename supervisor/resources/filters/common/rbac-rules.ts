/** Resolves envoy.config.rbac.v3.RBAC: policies, permissions and principals. */
import type {
  Permission,
  Policy,
  Principal,
  RBAC,
} from '../../../../shared/api/generated/envoy/config/rbac/v3/rbac.ts';
import type { CidrRange } from '../../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type { MetadataMatcher } from '../../../../shared/api/generated/envoy/type/matcher/v3/metadata.ts';
import type { PathMatcher } from '../../../../shared/api/generated/envoy/type/matcher/v3/path.ts';
import type { RbacRule, RbacRules } from '../../../../shared/resources/filters/common/rbac.ts';
import type { CelExpression } from '../../../../shared/cel/expression.ts';
import { celFeatures, resolveCelExpr } from '../../cel.ts';
import { optional } from '../../values.ts';
import { resolveCidr } from '../../http/cidr.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveFilterStateMatcher } from '../../matchers/filter-state-matcher.ts';
import { resolveHeaderMatcher } from '../../matchers/header-matcher.ts';
import { resolveStringMatcher } from '../../matchers/string-matcher.ts';
import { resolveMetadataMatcher } from '../../matchers/value-matcher.ts';
import { PATH_MATCH } from '../../routes/path-templates.ts';
import { RBAC_PRINCIPALS } from './rbac-principals.ts';
import type { Scope } from '../../scope.ts';

const RULES_FIELDS = knownFields<RBAC>(['action', 'policies']);
const POLICY_FIELDS = knownFields<Policy>([
  'permissions',
  'principals',
  'condition',
  'checked_condition',
  'cel_config',
]);
const PERMISSION_FIELDS = knownFields<Permission>([
  'and_rules',
  'or_rules',
  'any',
  'header',
  'url_path',
  'destination_ip',
  'destination_port',
  'destination_port_range',
  'not_rule',
  'requested_server_name',
  'metadata',
  'sourced_metadata',
  'uri_template',
]);
const PRINCIPAL_FIELDS = knownFields<Principal>([
  'and_ids',
  'or_ids',
  'any',
  'authenticated',
  'source_ip',
  'direct_remote_ip',
  'remote_ip',
  'header',
  'url_path',
  'not_id',
  'metadata',
  'sourced_metadata',
  'filter_state',
  'custom',
]);

/** What stands for a rule that was refused: a resource with a problem is never used. */
const REFUSED: RbacRule = { kind: 'any' };

export function resolveRbacRules(message: RBAC, scope: Scope): RbacRules {
  refuseOtherFields(message, RULES_FIELDS, scope);
  const { action = 'ALLOW', policies = {} } = message;
  const names = Object.keys(policies).sort();
  return {
    action: typeof action === 'string' ? action : 'ALLOW',
    policies: names.map((name) => {
      const policy = policies[name] ?? {};
      const place = scope.at('policies', name);
      refuseOtherFields(policy, POLICY_FIELDS, place);
      return {
        name,
        permission: anyOf(policy.permissions, place.at('permissions'), resolvePermission),
        principal: anyOf(policy.principals, place.at('principals'), resolvePrincipal),
        ...optional('condition', resolveCondition(policy, place)),
      };
    }),
  };
}

function resolveCondition(policy: Policy, scope: Scope): CelExpression | undefined {
  const { condition, checked_condition: checked, cel_config: config } = policy;
  const features = celFeatures(config);
  if (condition !== undefined) return resolveCelExpr(condition, scope.at('condition'), features);
  if (checked === undefined) return undefined;
  return resolveCelExpr(checked.expr ?? {}, scope.at('checked_condition', 'expr'), features);
}

function resolvePermission(message: Permission, scope: Scope): RbacRule {
  refuseOtherFields(message, PERMISSION_FIELDS, scope);
  const { and_rules: and, or_rules: or, not_rule: not } = message;
  if (and !== undefined) return allOf(and.rules, scope.at('and_rules', 'rules'), resolvePermission);
  if (or !== undefined) return anyOf(or.rules, scope.at('or_rules', 'rules'), resolvePermission);
  if (not !== undefined) {
    return { kind: 'not', rule: resolvePermission(not, scope.at('not_rule')) };
  }
  if (message.destination_ip !== undefined) {
    return cidrRule('destination_ip', message.destination_ip, scope.at('destination_ip'));
  }
  if (message.destination_port !== undefined) {
    return { kind: 'destination_port', port: message.destination_port };
  }
  const { destination_port_range: range, requested_server_name: serverName } = message;
  if (range !== undefined) {
    const { start = 0, end = 0 } = range;
    if (start >= end) {
      scope
        .at('destination_port_range')
        .error('conflict', `range start ${start} cannot be greater or equal than range end ${end}`);
    }
    return { kind: 'destination_port_range', start, end };
  }
  if (serverName !== undefined) {
    const matcher = resolveStringMatcher(serverName, scope.at('requested_server_name'));
    return matcher === undefined ? REFUSED : { kind: 'requested_server_name', matcher };
  }
  if (message.uri_template !== undefined) {
    const template = PATH_MATCH.resolve(message.uri_template, scope.at('uri_template'));
    return template === undefined ? REFUSED : { kind: 'path_template', template };
  }
  return requestRule(message, scope);
}

function resolvePrincipal(message: Principal, scope: Scope): RbacRule {
  refuseOtherFields(message, PRINCIPAL_FIELDS, scope);
  const { and_ids: and, or_ids: or, not_id: not, authenticated } = message;
  if (and !== undefined) return allOf(and.ids, scope.at('and_ids', 'ids'), resolvePrincipal);
  if (or !== undefined) return anyOf(or.ids, scope.at('or_ids', 'ids'), resolvePrincipal);
  if (not !== undefined) return { kind: 'not', rule: resolvePrincipal(not, scope.at('not_id')) };
  if (authenticated !== undefined) {
    const { principal_name: name } = authenticated;
    if (name === undefined) return { kind: 'authenticated' };
    const principal = resolveStringMatcher(name, scope.at('authenticated', 'principal_name'));
    return principal === undefined ? REFUSED : { kind: 'authenticated', principal };
  }
  const { source_ip: source, direct_remote_ip: direct, remote_ip: remote } = message;
  if (source !== undefined) return cidrRule('direct_remote_ip', source, scope.at('source_ip'));
  if (direct !== undefined) {
    return cidrRule('direct_remote_ip', direct, scope.at('direct_remote_ip'));
  }
  if (remote !== undefined) return cidrRule('remote_ip', remote, scope.at('remote_ip'));
  return statedPrincipal(message, scope);
}

/** Principals that filter state or an extension tells; the rest is as for permissions. */
function statedPrincipal(message: Principal, scope: Scope): RbacRule {
  if (message.custom !== undefined) {
    return RBAC_PRINCIPALS.resolve(message.custom, scope.at('custom'))?.rule ?? REFUSED;
  }
  if (message.filter_state !== undefined) {
    const matcher = resolveFilterStateMatcher(message.filter_state, scope.at('filter_state'));
    return matcher === undefined ? REFUSED : { kind: 'filter_state', matcher };
  }
  return requestRule(message, scope);
}

/** What permissions and principals have in common. */
function requestRule(
  message: Pick<
    Permission & Principal,
    'any' | 'header' | 'url_path' | 'metadata' | 'sourced_metadata'
  >,
  scope: Scope,
): RbacRule {
  if (message.header !== undefined) {
    const header = resolveHeaderMatcher(message.header, scope.at('header'));
    return header === undefined ? REFUSED : { kind: 'header', header };
  }
  if (message.url_path !== undefined) return pathRule(message.url_path, scope.at('url_path'));
  const { metadata, sourced_metadata: sourced } = message;
  if (metadata !== undefined) return metadataRule(metadata, 'dynamic', scope.at('metadata'));
  if (sourced === undefined) return { kind: 'any' };
  const source = sourced.metadata_source === 'ROUTE' ? 'route' : 'dynamic';
  const place = scope.at('sourced_metadata', 'metadata_matcher');
  return metadataRule(sourced.metadata_matcher ?? {}, source, place);
}

function metadataRule(
  message: MetadataMatcher,
  source: 'dynamic' | 'route',
  scope: Scope,
): RbacRule {
  const matcher = resolveMetadataMatcher(message, scope);
  return matcher === undefined ? REFUSED : { kind: 'metadata', source, matcher };
}

function pathRule(message: PathMatcher, scope: Scope): RbacRule {
  if (message.path === undefined) return REFUSED;
  const path = resolveStringMatcher(message.path, scope.at('path'));
  return path === undefined ? REFUSED : { kind: 'path', path };
}

function cidrRule(
  kind: 'destination_ip' | 'direct_remote_ip' | 'remote_ip',
  message: CidrRange,
  scope: Scope,
): RbacRule {
  const cidr = resolveCidr(message, scope);
  return cidr === undefined ? REFUSED : { kind, ...cidr };
}

type Resolve<Message> = (message: Message, scope: Scope) => RbacRule;

function anyOf<Message>(
  messages: readonly Message[] | undefined,
  scope: Scope,
  resolve: Resolve<Message>,
): RbacRule {
  return {
    kind: 'or',
    rules: (messages ?? []).map((rule, index) => resolve(rule, scope.at(index))),
  };
}

function allOf<Message>(
  messages: readonly Message[] | undefined,
  scope: Scope,
  resolve: Resolve<Message>,
): RbacRule {
  return {
    kind: 'and',
    rules: (messages ?? []).map((rule, index) => resolve(rule, scope.at(index))),
  };
}
