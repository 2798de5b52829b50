/**
 * A route's retry policy, compiled once, and what of it one request's headers change. Decides
 * nothing: the router's retry state does.
 */
import type { CompiledRetryPolicy } from '../stream/route.ts';
import type { HeaderMatcher } from '../../shared/resources/routes/matchers.ts';
import type { RetryPolicy } from '../../shared/resources/routes/retry-policy.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import {
  compileHeaderMatcher,
  type HeaderPredicate,
} from '../../shared/matchers/header-matcher.ts';
import { grpcConditions, httpConditions, splitList } from './retry-conditions.ts';

/** What holds for one request. */
export interface RequestRetries {
  readonly policy: RetryPolicy;
  readonly conditions: number;
  readonly retries: number;
  readonly statusCodes: readonly number[];
  readonly responseHeaders: readonly HeaderPredicate[];
}

export function compileRetryPolicy(policy: RetryPolicy): CompiledRetryPolicy {
  const { retryOn, retriableHeaders, retriableRequestHeaders } = policy;
  return {
    policy,
    conditions: httpConditions(retryOn) | grpcConditions(retryOn),
    responseHeaders: retriableHeaders.map(compileHeaderMatcher),
    requestHeaders: retriableRequestHeaders.map(compileHeaderMatcher),
  };
}

/** By the policy that a cluster says, compiled at its first request. */
const ofClusters = new WeakMap<RetryPolicy, CompiledRetryPolicy>();

/** That of the cluster wins over that of the route, as in Envoy. */
export function retryPolicyOf(
  cluster: RetryPolicy | undefined,
  route: CompiledRetryPolicy | undefined,
): CompiledRetryPolicy | undefined {
  if (cluster === undefined) return route;
  let compiled = ofClusters.get(cluster);
  if (compiled === undefined) ofClusters.set(cluster, (compiled = compileRetryPolicy(cluster)));
  return compiled;
}

/**
 * The retries of one request, undefined when there are none. Takes the headers that ask for them
 * out of the request: no upstream sees them.
 */
export function takeRequestRetries(
  compiled: CompiledRetryPolicy | undefined,
  headers: HeaderMap,
): RequestRetries | undefined {
  const asks = asksForRetries(headers);
  if (!asks) {
    if (compiled === undefined || compiled.conditions === 0) return undefined;
    if (!mayRetry(compiled, headers)) return undefined;
    const { policy, conditions, responseHeaders } = compiled;
    const { numRetries: retries, retriableStatusCodes: statusCodes } = policy;
    return { policy, conditions, retries, statusCodes, responseHeaders };
  }
  const asked = readAsked(compiled ?? WITHOUT_POLICY, headers);
  for (const name of ASKING) headers.remove(name);
  return asked;
}

const ASKING = [
  'x-envoy-retry-on',
  'x-envoy-retry-grpc-on',
  'x-envoy-max-retries',
  'x-envoy-hedge-on-per-try-timeout',
  'x-envoy-retriable-header-names',
  'x-envoy-retriable-status-codes',
  'x-envoy-upstream-rq-per-try-timeout-ms',
] as const;

const NAMES: ReadonlySet<string> = new Set(ASKING);
const LOWER_X = 0x78;

/** Runs for every request: most have no header that begins like these. */
function asksForRetries({ entries }: HeaderMap): boolean {
  for (let at = 0; at < entries.length; at += 2) {
    const name = entries[at] ?? '';
    if (name.charCodeAt(0) !== LOWER_X || !name.startsWith('x-envoy-')) continue;
    if (NAMES.has(name)) return true;
  }
  return false;
}

const WITHOUT_POLICY: CompiledRetryPolicy = compileRetryPolicy({
  retryOn: [],
  numRetries: 1,
  retriableStatusCodes: [],
  retriableHeaders: [],
  retriableRequestHeaders: [],
  backOffBaseMs: 25,
  backOffMaxMs: 250,
  hostPredicates: [],
  hostSelectionRetryMaxAttempts: 1,
});

function readAsked(compiled: CompiledRetryPolicy, headers: HeaderMap): RequestRetries | undefined {
  const { policy } = compiled;
  const list = (name: string): readonly string[] => splitList(headers.get(name) ?? '');
  const conditions =
    compiled.conditions |
    httpConditions(list('x-envoy-retry-on')) |
    grpcConditions(list('x-envoy-retry-grpc-on'));
  if (conditions === 0 || !mayRetry(compiled, headers)) return undefined;
  const codes = list('x-envoy-retriable-status-codes').filter((code) => UNSIGNED.test(code));
  const names = list('x-envoy-retriable-header-names').map((name) => isPresent(name));
  const most = headers.get('x-envoy-max-retries') ?? '';
  return {
    policy,
    conditions,
    retries: UNSIGNED.test(most) ? Number(most) : policy.numRetries,
    statusCodes: [...policy.retriableStatusCodes, ...codes.map(Number)],
    responseHeaders: [...compiled.responseHeaders, ...names],
  };
}

const UNSIGNED = /^\d{1,9}$/;

function isPresent(name: string): HeaderPredicate {
  const matcher: HeaderMatcher = {
    name: name.toLowerCase(),
    invert: false,
    treatMissingAsEmpty: false,
    match: { kind: 'present', present: true },
  };
  return compileHeaderMatcher(matcher);
}

function mayRetry({ requestHeaders }: CompiledRetryPolicy, headers: HeaderMap): boolean {
  return requestHeaders.length === 0 || requestHeaders.some((matches) => matches(headers));
}
