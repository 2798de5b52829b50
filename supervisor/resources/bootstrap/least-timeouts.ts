/** Resolves how far the overload manager may cut timeouts short. */
import type {
  ScaleTimersOverloadActionConfig as ScaleMessage,
  ScaleTimersOverloadActionConfig_ScaleTimer as TimerMessage,
} from '../../../shared/api/generated/envoy/config/overload/v3/overload.ts';
import type { LeastTimeout, ScaledTimeout } from '../../../shared/resources/overload.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMs } from '../values.ts';

const FIELDS = knownFields<ScaleMessage>(['timer_scale_factors']);
const TIMER_FIELDS = knownFields<TimerMessage>(['timer', 'min_timeout', 'min_scale']);

const TIMEOUTS: Readonly<Record<string, ScaledTimeout>> = {
  HTTP_DOWNSTREAM_CONNECTION_IDLE: 'connection_idle',
  HTTP_DOWNSTREAM_STREAM_IDLE: 'stream_idle',
  HTTP_DOWNSTREAM_CONNECTION_MAX: 'connection_max',
};

export function resolveLeastTimeouts(config: object, scope: Scope): readonly LeastTimeout[] {
  const message: ScaleMessage = config;
  refuseOtherFields(message, FIELDS, scope);
  const seen = new Set<string>();
  const found: LeastTimeout[] = [];
  for (const [index, factor] of (message.timer_scale_factors ?? []).entries()) {
    const place = scope.at('timer_scale_factors', index);
    refuseOtherFields(factor, TIMER_FIELDS, place);
    const timer = String(factor.timer ?? '');
    if (seen.has(timer)) {
      place.error('duplicate', `Found duplicate entry for timer type ${timer}`);
    }
    seen.add(timer);
    const timeout = TIMEOUTS[timer];
    const { min_timeout: min, min_scale: share } = factor;
    if (timeout === undefined) place.at('timer').unsupported(`timer type ${timer} is`);
    else if (min !== undefined) found.push({ timeout, minMs: durationMs(min) });
    else found.push({ timeout, minShare: Number(share?.value ?? 0) / 100 });
  }
  return found;
}
