/** Resolves envoy.extensions.filters.http.csrf.v3.CsrfPolicy, also per route. */
import type { CsrfPolicy as CsrfMessage } from '../../../../shared/api/generated/envoy/extensions/filters/http/csrf/v3/csrf.ts';
import type {
  CsrfPolicy,
  CsrfFilterSettings,
} from '../../../../shared/resources/filters/http/csrf.ts';
import { resolveRuntimeFraction } from '../../matchers/fraction.ts';
import { resolveStringMatcher } from '../../matchers/string-matcher.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const CSRF_TYPE = 'envoy.extensions.filters.http.csrf.v3.CsrfPolicy';

export const CSRF_FILTER = httpFilter(
  'envoy.filters.http.csrf',
  CSRF_TYPE,
  (message: CsrfMessage, scope, name): CsrfFilterSettings => ({
    kind: 'csrf',
    name,
    options: resolveCsrfPolicy(message, scope),
  }),
  perRoute(CSRF_TYPE, resolveCsrfPolicy),
);

function resolveCsrfPolicy(message: CsrfMessage, scope: Scope): CsrfPolicy {
  const { filter_enabled: enabled, shadow_enabled: shadow } = message;
  const origins = (message.additional_origins ?? []).map((origin, index) =>
    resolveStringMatcher(origin, scope.at('additional_origins', index)),
  );
  return {
    enabled:
      enabled === undefined ? { numerator: 0, denominator: 100 } : resolveRuntimeFraction(enabled),
    additionalOrigins: origins.filter((matcher) => matcher !== undefined),
    ...optional('shadowEnabled', shadow && resolveRuntimeFraction(shadow)),
  };
}
