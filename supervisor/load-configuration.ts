/**
 * The configuration of this process from its command line: read, checked, and resolved to what the
 * server acts on. It opens no socket and tells nobody anything, so that validation can use it too.
 */
import type { Bootstrap } from '../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { Clock } from '../shared/clock.ts';
import type { Options } from '../shared/options.ts';
import { formatProblem } from './config/config-error.ts';
import { loadBootstrap } from './config/load-config.ts';
import { resolveBootstrap } from './resources/bootstrap/resolve-bootstrap.ts';
import type { ResolvedBootstrap } from './resources/resolved-bootstrap.ts';
import { ResourceStore } from './resources/resource-store.ts';
import { storeStaticResources } from './resources/static-store.ts';

export interface Configuration {
  /** Normalised: what `/config_dump` prints. */
  readonly bootstrap: Bootstrap;
  readonly resolved: ResolvedBootstrap;
  /** What the bootstrap configures, as first versions. */
  readonly store: ResourceStore;
  /** Unix milliseconds. */
  readonly loadedAtMs: number;
  /** Fields that the API does not know and an option let pass. */
  readonly unknownFieldCount: number;
}

/**
 * Rejects with `ConfigError`, which names every mistake. `warn` is called for what is accepted
 * though it has no effect or will go away.
 */
export async function loadConfiguration(
  options: Options,
  clock: Clock,
  warn: (text: string) => void,
): Promise<Configuration> {
  const loaded = await loadBootstrap(
    { configPath: options.configPath, configYaml: options.configYaml },
    { unknownFields: options.allowUnknownStaticFields ? 'warn' : 'refuse' },
  );
  const resolution = await resolveBootstrap(loaded.message, options);
  const { bootstrap: resolved, resources, problems } = resolution;
  if (resolved === undefined) throw await loaded.refuse(problems);
  for (const warning of [...loaded.warnings, ...(await loaded.locate(problems))]) {
    if (options.skipDeprecatedLogs && warning.rule === 'deprecated') continue;
    warn(formatProblem(warning));
  }
  const loadedAtMs = clock.wallMs();
  const store = new ResourceStore();
  storeStaticResources(store, resources, loadedAtMs);
  return {
    bootstrap: loaded.message,
    resolved,
    store,
    loadedAtMs,
    unknownFieldCount: loaded.unknownFieldCount,
  };
}
