/** Settings and stats of envoy.filters.http.ext_authz. */
import type { Dictionary } from '../../../text/dictionary.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import type { GrpcTarget } from '../../grpc-target.ts';
import type { HeaderValueOption } from '../../routes/headers.ts';
import type { MetadataMatcher, RuntimeFraction, StringMatcher } from '../../routes/matchers.ts';
import type { RetryPolicy } from '../../routes/retry-policy.ts';
import type { HeaderMutationRules } from '../common/mutation-rules.ts';
import { declareKind, type FilterResource } from '../declare-filter.ts';

/** Undefined lists match nothing, but where a comment says otherwise. Names are lower case. */
export interface AuthzHttpService {
  readonly kind: 'http';
  /** Empty: every check fails. */
  readonly cluster: string;
  readonly timeoutMs: number;
  readonly pathPrefix: string;
  /** Replaces the whole path; empty: it does not. */
  readonly pathOverride: string;
  readonly headersToAdd: readonly HeaderValueOption[];
  readonly upstreamHeaders: readonly StringMatcher[];
  readonly upstreamHeadersToAppend: readonly StringMatcher[];
  /** Empty: all pass. */
  readonly clientHeaders: readonly StringMatcher[];
  readonly clientHeadersOnSuccess: readonly StringMatcher[];
  readonly metadataHeaders: readonly StringMatcher[];
  readonly retryPolicy?: RetryPolicy;
}

export interface AuthzGrpcService {
  readonly kind: 'grpc';
  readonly target: GrpcTarget;
  readonly timeoutMs: number;
}

export type AuthzService = AuthzHttpService | AuthzGrpcService;

/** How much of a request's body a check is given. */
export interface CheckedBody {
  readonly maxBytes: number;
  /** A longer body is cut, instead of being refused. */
  readonly allowsPartial: boolean;
  readonly asBytes: boolean;
}

export interface ExtAuthzOptions {
  readonly statPrefix: string;
  /** Absent: every check fails. */
  readonly service?: AuthzService;
  readonly failureModeAllow: boolean;
  /** Tells the upstream of a request that passed because the check failed. */
  readonly addsFailureHeader: boolean;
  readonly statusOnError: number;
  readonly body?: CheckedBody;
  readonly clearsRoute: boolean;
  /** Absent: for all requests. */
  readonly enabled?: RuntimeFraction;
  readonly enabledMetadata?: MetadataMatcher;
  readonly denyAtDisable: { readonly runtimeKey: string; readonly byDefault: boolean };
  readonly metadataNamespaces: readonly string[];
  readonly typedMetadataNamespaces: readonly string[];
  readonly routeMetadataNamespaces: readonly string[];
  readonly includesPeerCertificate: boolean;
  readonly includesTlsSession: boolean;
  /** The key in the node's metadata: labels that the service is told of this side; empty: none. */
  readonly labelsKey: string;
  /** Absent: all for a gRPC service, only those that are always sent for an HTTP service. */
  readonly allowedHeaders?: readonly StringMatcher[];
  readonly disallowedHeaders: readonly StringMatcher[];
  readonly chargesCluster: boolean;
  readonly sendsRawHeaders: boolean;
  readonly validatesMutations: boolean;
  readonly mutationRules?: HeaderMutationRules;
  readonly ingestsMetadata: boolean;
  /** 0: no limit but that of the answer as a whole. */
  readonly deniedBodyBytesMax: number;
  /** Requests pass whatever a check says; what it said is counted. */
  readonly isShadow: boolean;
}

/** The settings of a route, a virtual host or a route configuration. */
export interface ExtAuthzPerRoute {
  readonly isDisabled: boolean;
  readonly contextExtensions: Dictionary<string>;
  readonly disablesBody: boolean;
  readonly body?: CheckedBody;
  readonly service?: AuthzService;
}

/** Prefix: `http.<stat_prefix of the manager>.ext_authz.`, and the filter's own. */
export const EXT_AUTHZ = defineTemplate('ext_authz', {
  ok: counter('Requests that a check let through'),
  denied: counter('Requests that a check denied'),
  error: counter('Checks that failed'),
  disabled: counter('Requests without a check, since the filter was switched off for them'),
  failure_mode_allowed: counter('Requests let through because their check failed'),
  invalid: counter('Checks whose answer asked for a change that may not be'),
  ignored_dynamic_metadata: counter('Checks whose metadata was ignored'),
  filter_state_name_collision: counter('Never counted: no filter state is kept under another name'),
  omitted_response_headers: counter('Never counted: changes of a check are not cut short'),
  request_header_limits_reached: counter('Never counted: changes of a check are not cut short'),
  response_header_limits_reached: counter('Never counted: changes of a check are not cut short'),
  shadow_denied: counter('Requests that a check on trial would have denied'),
  shadow_error: counter('Checks on trial that failed'),
});

export type ExtAuthzFilterSettings = FilterResource<'ext_authz', ExtAuthzOptions>;

export const EXT_AUTHZ_DECLARATION = declareKind<ExtAuthzFilterSettings>(EXT_AUTHZ);
