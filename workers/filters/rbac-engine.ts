/**
 * Decides by policies whether a request may pass. Pure: it looks at headers and at the connection's
 * facts. Source: envoy.config.rbac.v3.
 */
import type { RbacRule, RbacRules } from '../../shared/resources/http-filters.ts';
import type { HeaderMap } from '../http/header-map.ts';
import type { StreamInfo } from '../http/stream-info.ts';
import { compileAddressRanges } from '../../shared/matchers/address-matcher.ts';
import { compileHeaderMatcher } from '../../shared/matchers/header-matcher.ts';
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';

interface RbacDecision {
  readonly isAllowed: boolean;
  /** Name of the first policy that matched; undefined for none. */
  readonly policy: string | undefined;
}

export type RbacEngine = (headers: HeaderMap, info: StreamInfo) => RbacDecision;

type RulePredicate = (headers: HeaderMap, info: StreamInfo) => boolean;

export function compileRbacRules(rules: RbacRules): RbacEngine {
  const policies = rules.policies.map(({ name, permission, principal }) => ({
    name,
    permits: compileRule(permission),
    names: compileRule(principal),
  }));
  return (headers, info) => {
    const found = policies.find(
      ({ permits, names }) => permits(headers, info) && names(headers, info),
    );
    const isMatched = found !== undefined;
    const isAllowed = rules.action === 'LOG' || (rules.action === 'ALLOW') === isMatched;
    return { isAllowed, policy: found?.name };
  };
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
      const some = rule.rules.map(compileRule);
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
    default:
      return compileConnectionRule(rule);
  }
}

type ConnectionRule = Exclude<
  RbacRule,
  { readonly kind: 'any' | 'and' | 'or' | 'not' | 'header' | 'path' }
>;

function compileConnectionRule(rule: ConnectionRule): RulePredicate {
  switch (rule.kind) {
    case 'destination_port':
      return (_, { connection }) => connection.localAddress.port === rule.port;
    case 'destination_port_range':
      return (_, { connection: { localAddress } }) =>
        localAddress.port >= rule.start && localAddress.port < rule.end;
    case 'destination_ip': {
      const contains = compileAddressRanges([rule]);
      return (_, { connection }) => contains(connection.localAddress.ip);
    }
    case 'direct_remote_ip': {
      const contains = compileAddressRanges([rule]);
      return (_, { connection }) => contains(connection.directRemoteAddress.ip);
    }
    case 'remote_ip': {
      const contains = compileAddressRanges([rule]);
      return (_, info) => contains(info.downstreamRemoteAddress.ip);
    }
    case 'requested_server_name': {
      const matches = compileStringMatcher(rule.matcher);
      return (_, { connection }) => matches(connection.requestedServerName);
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

function pathOnly(path: string): string {
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}
