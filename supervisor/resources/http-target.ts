/** Resolves envoy.config.core.v3.HttpUri, and the core retry policy that stands beside it. */
import type { RetryPolicy as RetryMessage } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { HttpUri } from '../../shared/api/generated/envoy/config/core/v3/http_uri.ts';
import type { HttpTarget } from '../../shared/resources/http-target.ts';
import type { RetryPolicy } from '../../shared/resources/routes/retry-policy.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';
import { knownFields, refuseOtherFields } from './fields.ts';
import { resolveRetryPolicy } from './routes/retry-policy.ts';
import type { Scope } from './scope.ts';
import { durationMs, optional } from './values.ts';

const FIELDS = knownFields<HttpUri>(['uri', 'cluster', 'timeout']);
/** What such requests are retried after where a policy does not say. */
const RETRY_ON = '5xx,gateway-error,connect-failure,reset';

/** Scheme, authority and the rest, as far as Envoy takes addresses apart. */
const URI = /^(?:([a-z]+):\/\/)?([^/?#]*)(.*)$/i;

export function resolveHttpTarget(
  message: HttpUri,
  retry: RetryMessage | undefined,
  scope: Scope,
): HttpTarget {
  refuseOtherFields(message, FIELDS, scope);
  const { uri = '', cluster = '', timeout } = message;
  const [, scheme = 'http', authority = '', rest = ''] = URI.exec(toByteString(uri)) ?? [];
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return {
    cluster,
    scheme: scheme.toLowerCase(),
    authority,
    path,
    timeoutMs: timeout === undefined ? 0 : durationMs(timeout),
    ...optional('retryPolicy', retry && resolveCoreRetry(retry, RETRY_ON, scope)),
  };
}

/** Whether a URI names scheme and host. */
export function isAbsoluteUri(uri: string): boolean {
  return /^https?:\/\/[^/?#]+/i.test(uri);
}

/** The policy for requests of the proxy's own has fewer fields than a route's. */
export function resolveCoreRetry(
  message: RetryMessage,
  defaultRetryOn: string,
  scope: Scope,
): RetryPolicy {
  const { retry_back_off: backOff, retry_on: retryOn = '', ...rest } = message;
  const place = scope.at('retry_policy');
  return resolveRetryPolicy(
    {
      ...rest,
      retry_on: retryOn === '' ? defaultRetryOn : retryOn,
      ...(backOff === undefined
        ? {}
        : {
            retry_back_off: {
              ...optional('base_interval', backOff.base_interval),
              ...optional('max_interval', backOff.max_interval),
            },
          }),
    } as Parameters<typeof resolveRetryPolicy>[0],
    place,
  );
}
