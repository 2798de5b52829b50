/** Takes a bootstrap through the whole pipeline, as `--mode validate` does. */
import type { Bootstrap } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import { ConfigError } from '../../../supervisor/config/config-error.ts';
import { loadBootstrap } from '../../../supervisor/config/load-config.ts';
import type { Problem } from '../../../supervisor/config/problem.ts';
import {
  resolveBootstrap,
  type BootstrapResolution,
} from '../../../supervisor/resources/bootstrap/resolve-bootstrap.ts';

const NO_OVERRIDES = {
  serviceNode: '',
  serviceCluster: '',
  serviceZone: '',
  statsTags: [],
  disabledExtensions: new Set<string>(),
  skipSecrets: false,
} as const;

export type Outcome =
  | { readonly kind: 'resolved'; readonly resolution: BootstrapResolution }
  /** The pipeline before the resolvers refused it. */
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] };

export async function resolveConfig(bootstrap: object): Promise<Outcome> {
  let message: Bootstrap;
  try {
    const source = { configYaml: JSON.stringify(bootstrap) };
    ({ message } = await loadBootstrap(source, { unknownFields: 'refuse' }));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { kind: 'invalid', problems: error.problems };
  }
  return { kind: 'resolved', resolution: await resolveBootstrap(message, NO_OVERRIDES) };
}

/** The errors of both stages. */
export async function errorsOf(bootstrap: object): Promise<readonly Problem[]> {
  const outcome = await resolveConfig(bootstrap);
  const { problems } = outcome.kind === 'invalid' ? outcome : outcome.resolution;
  return problems.filter(({ severity }) => severity === 'error');
}
