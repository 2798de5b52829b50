/** Settings of the oauth2 filter, compiled once for a chain or a route. */
import {
  OAUTH2,
  type OAuth2Options,
} from '../../../../shared/resources/filters/http/auth/oauth2.ts';
import { readBoolean } from '../../../../shared/runtime/read-runtime.ts';
import {
  compileHeaderMatcher,
  type HeaderPredicate,
} from '../../../../shared/matchers/header-matcher.ts';
import { compileStringMatcher } from '../../../../shared/matchers/string-matcher.ts';
import { compileRetryPolicy } from '../../../routing/retry-policy.ts';
import { compileTextFormat, type Formatter } from '../../../substitution/compile-format.ts';
import type { CompiledRetryPolicy } from '../../../stream/route.ts';
import { secretText } from '../../common/generic-secret.ts';
import type { FilterContext } from '../../filter-context.ts';

export interface OAuth2Config {
  readonly options: OAuth2Options;
  readonly context: FilterContext;
  readonly isPassed: HeaderPredicate;
  readonly deniesRedirect: HeaderPredicate;
  readonly allowsFailed: HeaderPredicate;
  isCallback(path: string): boolean;
  isSignOut(path: string): boolean;
  readonly redirectUri: Formatter;
  readonly originalUri: Formatter | undefined;
  readonly postLogoutUri: Formatter | undefined;
  readonly retryPolicy: CompiledRetryPolicy | undefined;
  readonly count: (stat: keyof typeof OAUTH2.index) => void;
}

/** What follows from the present secrets and runtime, once per request. */
export interface Crypto {
  /** Empty where the filter does without it. */
  readonly clientSecret: string;
  readonly hmacSecret: string;
  readonly usesGcm: boolean;
  readonly allowsCbc: boolean;
}

const GCM_KEY = 'envoy.reloadable_features.oauth2_use_gcm_encryption';
const CBC_KEY = 'envoy.reloadable_features.oauth2_legacy_cbc_decrypt_compat';

export function compileOAuth2(
  options: OAuth2Options,
  context: FilterContext,
  statScope: string,
): OAuth2Config {
  const { stats } = context;
  const base = stats.defineBlock(OAUTH2, statScope + options.statPrefix);
  context.onBlock(base);
  const { redirectFormat, originalFormat, postLogoutFormat = '' } = options.addresses;
  const isCallback = compileStringMatcher(options.callbackPath);
  const isSignOut = compileStringMatcher(options.signOutPath);
  const { retryPolicy } = options.tokenEndpoint;
  return {
    options,
    context,
    isPassed: anyOf(options.passThrough),
    deniesRedirect: anyOf(options.denyRedirect),
    allowsFailed: anyOf(options.allowFailed),
    isCallback: (path) => isCallback(barePath(path)),
    isSignOut: (path) => isSignOut(barePath(path)),
    redirectUri: formatter(redirectFormat),
    originalUri: originalFormat === '' ? undefined : formatter(originalFormat),
    postLogoutUri: postLogoutFormat === '' ? undefined : formatter(postLogoutFormat),
    retryPolicy: retryPolicy && compileRetryPolicy(retryPolicy),
    count: (stat) => stats.increment(base + OAUTH2.index[stat]),
  };
}

/** Undefined while a secret is missing. */
export function cryptoOf({ options, context }: OAuth2Config): Crypto | undefined {
  const { secrets, runtime } = context;
  const { auth } = options;
  const hmacSecret = secretText(options.hmacSecret, secrets);
  const clientSecret = auth.kind === 'tls' ? '' : secretText(auth.secret, secrets);
  if (hmacSecret === '' || (auth.kind !== 'tls' && clientSecret === '')) return undefined;
  const usesGcm = readBoolean(runtime.snapshot, GCM_KEY, false);
  const allowsCbc = !usesGcm || readBoolean(runtime.snapshot, CBC_KEY, true);
  return { clientSecret, hmacSecret, usesGcm, allowsCbc };
}

function formatter(format: string): Formatter {
  return compileTextFormat(format, { omitEmptyValues: false });
}

function anyOf(matchers: OAuth2Options['passThrough']): HeaderPredicate {
  const predicates = matchers.map(compileHeaderMatcher);
  return (headers) => predicates.some((matches) => matches(headers));
}

/** Without query and fragment. */
function barePath(path: string): string {
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}
