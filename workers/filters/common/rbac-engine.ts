/**
 * Decides by policies whether a request may pass. Pure: it looks at headers and at the connection's
 * facts. Source: envoy.config.rbac.v3.
 */
import { X509Certificate } from 'node:crypto';
import type {
  RbacDecider,
  RbacRule,
  RbacRules,
} from '../../../shared/resources/filters/common/rbac.ts';
import type { CertificateInfo } from '../../net/connection-info.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { compileIpRanges } from '../../../shared/addresses/ip-ranges.ts';
import { compileHeaderMatcher } from '../../../shared/matchers/header-matcher.ts';
import { compileStringMatcher } from '../../../shared/matchers/string-matcher.ts';
import { type SubjectAltName, subjectAltNames } from '../../../shared/tls/certificate-names.ts';
import { compileName } from '../../../shared/tls/peer-check.ts';
import { compileCelCondition } from '../../cel/compile-cel.ts';
import { compileMetadataMatcher } from '../../matching/value-matcher.ts';
import { compileMatcherTree } from '../../matching/matcher-tree.ts';
import { compilePathTemplate } from '../../routing/path-template.ts';
import { compileFilterState } from '../../routing/route-conditions.ts';
import type { Runtime } from '../../loop/runtime.ts';

interface RbacDecision {
  readonly isAllowed: boolean;
  /** Name of the first policy that matched; undefined for none. */
  readonly policy: string | undefined;
  /** Whether policies that only log would log it; undefined where none does. */
  readonly isLogged: boolean | undefined;
}

export type RbacEngine = (headers: HeaderMap, info: StreamInfo) => RbacDecision;

type RulePredicate = (headers: HeaderMap, info: StreamInfo) => boolean;

export function compileRbacDecider(decider: RbacDecider, runtime: Runtime): RbacEngine {
  if (decider.kind === 'rules') return compileRbacRules(decider.rules);
  let logs = false;
  const match = compileMatcherTree(
    decider.tree,
    (action) => {
      logs ||= action.action === 'LOG';
      return action;
    },
    runtime,
  );
  return (headers, info) => {
    const found = match(headers, info);
    if (found === undefined) return { isAllowed: false, policy: undefined, isLogged: undefined };
    const { action, name } = found;
    const isLogged = logs ? action === 'LOG' : undefined;
    return { isAllowed: action !== 'DENY', policy: name, isLogged };
  };
}

export function compileRbacRules(rules: RbacRules): RbacEngine {
  const policies = rules.policies.map(({ name, permission, principal, condition }) => ({
    name,
    permits: compileRule(permission),
    names: compileRule(principal),
    holds: condition === undefined ? always : compileCelCondition(condition),
  }));
  return (headers, info) => {
    const found = policies.find(
      ({ permits, names, holds }) => permits(headers, info) && names(headers, info) && holds(info),
    );
    const isMatched = found !== undefined;
    const isAllowed = rules.action === 'LOG' || (rules.action === 'ALLOW') === isMatched;
    const isLogged = rules.action === 'LOG' ? isMatched : undefined;
    return { isAllowed, policy: found?.name, isLogged };
  };
}

function always(): boolean {
  return true;
}

function compileRule(rule: RbacRule): RulePredicate {
  switch (rule.kind) {
    case 'any':
      return () => true;
    case 'and': {
      const all = rule.rules.map(compileRule);
      return (headers, info) => all.every((matches) => matches(headers, info));
    }
    case 'or': {
      const some = joinAddresses(rule.rules);
      return (headers, info) => some.some((matches) => matches(headers, info));
    }
    case 'not': {
      const matches = compileRule(rule.rule);
      return (headers, info) => !matches(headers, info);
    }
    case 'header':
      return compileHeaderMatcher(rule.header);
    case 'path': {
      const matches = compileStringMatcher(rule.path);
      return (headers) => matches(pathOnly(headers.path));
    }
    case 'path_template': {
      const template = compilePathTemplate(rule.template);
      return (headers) => template.matches(pathOnly(headers.path));
    }
    case 'metadata': {
      const matches = compileMetadataMatcher(rule.matcher);
      return rule.source === 'route'
        ? (_, info) => matches(info.route?.metadata)
        : (_, info) => matches(info.dynamicMetadata);
    }
    case 'filter_state':
      return compileFilterState(rule.matcher);
    default:
      return compileConnectionRule(rule);
  }
}

type AddressRule = Extract<
  RbacRule,
  { readonly kind: 'remote_ip' | 'direct_remote_ip' | 'destination_ip' }
>;

function isAddressRule(rule: RbacRule): rule is AddressRule {
  return (
    rule.kind === 'remote_ip' || rule.kind === 'direct_remote_ip' || rule.kind === 'destination_ip'
  );
}

/**
 * Joins the addresses of any of the rules: all ranges for the same address are looked up at once,
 * however many they are.
 */
function joinAddresses(rules: readonly RbacRule[]): readonly RulePredicate[] {
  const ranges = new Map<AddressRule['kind'], AddressRule[]>();
  for (const rule of rules.filter(isAddressRule)) {
    const known = ranges.get(rule.kind) ?? [];
    known.push(rule);
    ranges.set(rule.kind, known);
  }
  const others = rules.filter((rule) => !isAddressRule(rule));
  return [
    ...[...ranges].map(([kind, list]) => compileAddressRule(kind, list)),
    ...others.map(compileRule),
  ];
}

function compileAddressRule(
  kind: AddressRule['kind'],
  ranges: readonly AddressRule[],
): RulePredicate {
  const contains = compileIpRanges(ranges);
  switch (kind) {
    case 'destination_ip':
      return (_, { connection }) => contains(connection.localAddress.ip);
    case 'direct_remote_ip':
      return (_, { connection }) => contains(connection.directRemoteAddress.ip);
    case 'remote_ip':
      return (_, info) => contains(info.downstreamRemoteAddress.ip);
  }
}

type ConnectionRule = Exclude<
  RbacRule,
  {
    readonly kind:
      | 'any'
      | 'and'
      | 'or'
      | 'not'
      | 'header'
      | 'path'
      | 'path_template'
      | 'metadata'
      | 'filter_state';
  }
>;

function compileConnectionRule(rule: ConnectionRule): RulePredicate {
  switch (rule.kind) {
    case 'destination_port':
      return (_, { connection }) => connection.localAddress.port === rule.port;
    case 'destination_port_range':
      return (_, { connection: { localAddress } }) =>
        localAddress.port >= rule.start && localAddress.port < rule.end;
    case 'destination_ip':
    case 'direct_remote_ip':
    case 'remote_ip':
      return compileAddressRule(rule.kind, [rule]);
    case 'requested_server_name': {
      const matches = compileStringMatcher(rule.matcher);
      return (_, { connection }) => matches(connection.requestedServerName);
    }
    case 'verified_name': {
      const test = compileName(rule.matcher);
      return (_, { connection: { tls } }) =>
        tls?.isPeerVerified === true && tls.peer !== undefined && namesOf(tls.peer).some(test);
    }
    case 'authenticated': {
      const matches = rule.principal && compileStringMatcher(rule.principal);
      return (_, { connection: { tls } }) => {
        const peer = tls?.isPeerVerified === true ? tls.peer : undefined;
        if (peer === undefined) return false;
        // URI names come before DNS names, and the subject only when there is neither.
        const names = peer.uriSans.length > 0 ? peer.uriSans : peer.dnsSans;
        const known = names.length > 0 ? names : [peer.subject];
        return matches === undefined || known.some((name) => matches(name));
      };
    }
  }
}

/** Names by certificate: they are read once, however many requests a connection has. */
const NAMES = new WeakMap<CertificateInfo, readonly SubjectAltName[]>();

function namesOf(certificate: CertificateInfo): readonly SubjectAltName[] {
  let names = NAMES.get(certificate);
  if (names === undefined) {
    names = subjectAltNames(new X509Certificate(certificate.pem));
    NAMES.set(certificate, names);
  }
  return names;
}

function pathOnly(path: string): string {
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}
