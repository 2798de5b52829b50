/** Resolves a feature that a runtime key may switch; without one it is on. */
import type { RuntimeFeatureFlag } from '../../../../shared/api/generated/envoy/config/core/v3/base.ts';

interface FeatureFlag {
  readonly isDefault: boolean;
  readonly runtimeKey: string;
}

export function resolveFeatureFlag(flag: RuntimeFeatureFlag | undefined): FeatureFlag {
  return { isDefault: flag?.default_value ?? true, runtimeKey: flag?.runtime_key ?? '' };
}
