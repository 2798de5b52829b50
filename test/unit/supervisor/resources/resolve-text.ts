/** Takes a bootstrap through the whole pipeline, as `--mode validate` does. */
import { ConfigError } from '../../../../supervisor/config/config-error.ts';
import { loadBootstrap } from '../../../../supervisor/config/load-config.ts';
import type { Problem } from '../../../../supervisor/config/problem.ts';
import {
  type BootstrapOverrides,
  resolveBootstrap,
  type BootstrapResolution,
} from '../../../../supervisor/resources/bootstrap/resolve-bootstrap.ts';

export const NO_OVERRIDES = {
  serviceNode: '',
  serviceCluster: '',
  serviceZone: '',
  statsTags: [],
  disabledExtensions: new Set<string>(),
  skipSecrets: false,
} as const;

export type Outcome =
  | { readonly kind: 'resolved'; readonly resolution: BootstrapResolution }
  /** Something is wrong with its form or its meaning. */
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] };

export async function resolveConfig(
  bootstrap: object,
  overrides: BootstrapOverrides = NO_OVERRIDES,
): Promise<Outcome> {
  const found: { resolution?: BootstrapResolution } = {};
  try {
    const source = { configYaml: JSON.stringify(bootstrap) };
    await loadBootstrap(source, {
      unknownFields: 'refuse',
      check: async (message) => {
        found.resolution = await resolveBootstrap(message, overrides);
        return found.resolution.problems;
      },
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { kind: 'invalid', problems: error.problems };
  }
  if (found.resolution === undefined) throw new Error('it was not resolved');
  return { kind: 'resolved', resolution: found.resolution };
}

/** The errors of both stages. */
export async function errorsOf(bootstrap: object): Promise<readonly Problem[]> {
  const outcome = await resolveConfig(bootstrap);
  const { problems } = outcome.kind === 'invalid' ? outcome : outcome.resolution;
  return problems.filter(({ severity }) => severity === 'error');
}
