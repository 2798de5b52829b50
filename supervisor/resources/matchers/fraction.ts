/** Resolves shares of requests; the worker asks the runtime for the key at each request. */
import type { RuntimeFractionalPercent } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { FractionalPercent } from '../../../shared/api/generated/envoy/type/v3/percent.ts';
import type { RuntimeFraction } from '../../../shared/resources/routes/matchers.ts';
import { optional } from '../values.ts';

export function resolveRuntimeFraction(message: RuntimeFractionalPercent): RuntimeFraction {
  return fractionWithKey(message.default_value ?? {}, message.runtime_key);
}

export function fractionWithKey(
  message: FractionalPercent,
  runtimeKey: string | undefined,
): RuntimeFraction {
  return {
    ...optional('runtimeKey', runtimeKey === '' ? undefined : runtimeKey),
    numerator: message.numerator ?? 0,
    denominator: denominator(message),
  };
}

function denominator({ denominator: name }: FractionalPercent): RuntimeFraction['denominator'] {
  if (name === 'TEN_THOUSAND') return 10_000;
  return name === 'MILLION' ? 1_000_000 : 100;
}
