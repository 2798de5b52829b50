/** Resolves shares of requests; a runtime layer of the bootstrap may set another share. */
import type { RuntimeFractionalPercent } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { FractionalPercent } from '../../../shared/api/generated/envoy/type/v3/percent.ts';
import type { RuntimeFraction } from '../../../shared/resources/matchers.ts';
import type { Scope } from '../scope.ts';

export function resolveRuntimeFraction(
  message: RuntimeFractionalPercent,
  scope: Scope,
): RuntimeFraction {
  return fractionWithKey(message.default_value ?? {}, message.runtime_key, scope);
}

export function fractionWithKey(
  message: FractionalPercent,
  runtimeKey: string | undefined,
  scope: Scope,
): RuntimeFraction {
  const own = { numerator: message.numerator ?? 0, denominator: denominator(message) };
  if (runtimeKey === undefined || runtimeKey === '') return own;
  return { runtimeKey, ...scope.context.runtime.fraction(runtimeKey, own) };
}

function denominator({ denominator: name }: FractionalPercent): RuntimeFraction['denominator'] {
  if (name === 'TEN_THOUSAND') return 10_000;
  return name === 'MILLION' ? 1_000_000 : 100;
}
