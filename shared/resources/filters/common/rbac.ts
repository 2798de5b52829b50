/** Role-based rules, which the HTTP and the network filter share. */
import type { CelExpression } from '../../../cel/expression.ts';
import type { SanMatcher } from '../../tls.ts';
import type { MatcherTree } from '../../routes/matcher-tree.ts';
import type {
  FilterStateMatcher,
  HeaderMatcher,
  MetadataMatcher,
  StringMatcher,
} from '../../routes/matchers.ts';

/** What RBAC matches requests and connections by; permissions and principals are alike here. */
export type RbacRule =
  | { readonly kind: 'any' }
  | { readonly kind: 'and' | 'or'; readonly rules: readonly RbacRule[] }
  | { readonly kind: 'not'; readonly rule: RbacRule }
  | { readonly kind: 'header'; readonly header: HeaderMatcher }
  | { readonly kind: 'path'; readonly path: StringMatcher }
  | { readonly kind: 'destination_port'; readonly port: number }
  | { readonly kind: 'destination_port_range'; readonly start: number; readonly end: number }
  | {
      readonly kind: 'destination_ip' | 'direct_remote_ip' | 'remote_ip';
      readonly address: string;
      readonly prefixLength: number;
    }
  | { readonly kind: 'requested_server_name'; readonly matcher: StringMatcher }
  | { readonly kind: 'path_template'; readonly template: string }
  | {
      readonly kind: 'metadata';
      readonly source: 'dynamic' | 'route';
      readonly matcher: MetadataMatcher;
    }
  | { readonly kind: 'filter_state'; readonly matcher: FilterStateMatcher }
  /** Absent: any client with a verified certificate. */
  | { readonly kind: 'authenticated'; readonly principal?: StringMatcher }
  /** A name of the client's verified certificate. */
  | { readonly kind: 'verified_name'; readonly matcher: SanMatcher };

interface RbacPolicy {
  readonly name: string;
  readonly permission: RbacRule;
  readonly principal: RbacRule;
  /** Has to be true besides; what goes wrong in it is not. */
  readonly condition?: CelExpression;
}

export interface RbacRules {
  readonly action: 'ALLOW' | 'DENY' | 'LOG';
  /** In the order of their names, as Envoy evaluates them. */
  readonly policies: readonly RbacPolicy[];
}

/** A leaf of a tree: what becomes of the request, and under which name that is told. */
export interface RbacAction {
  readonly name: string;
  readonly action: 'ALLOW' | 'DENY' | 'LOG';
}

/** Rules, or a tree whose requests without a match are denied. */
export type RbacDecider =
  | { readonly kind: 'rules'; readonly rules: RbacRules }
  | { readonly kind: 'tree'; readonly tree: MatcherTree<RbacAction> };
