/** Resolves how the waits between attempts to reach a host grow. */
import type { BackoffStrategy } from '../../../shared/api/generated/envoy/config/core/v3/backoff.ts';
import type { TcpProxy } from '../../../shared/resources/filters/network/tcp-proxy.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr } from '../values.ts';

const BACK_OFF_FIELDS = knownFields<BackoffStrategy>(['base_interval', 'max_interval']);
/** How far waits grow where nothing says it. */
const LARGEST_BACK_OFF = 10;

export function resolveBackOff(
  message: BackoffStrategy | undefined,
  scope: Scope,
): TcpProxy['retryBackOff'] {
  if (message === undefined) return undefined;
  const place = scope.at('backoff_options');
  refuseOtherFields(message, BACK_OFF_FIELDS, place);
  const baseMs = durationMsOr(message.base_interval, 0);
  const maxMs = durationMsOr(message.max_interval, LARGEST_BACK_OFF * baseMs);
  if (maxMs < baseMs) {
    const text = 'max_backoff_interval must be greater or equal to base_backoff_interval';
    place.at('max_interval').error('conflict', text);
  }
  return { baseMs, maxMs };
}
