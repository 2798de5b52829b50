/**
 * The configuration of this process from its command line: read, checked, and resolved to what the
 * server acts on. It opens no socket and tells nobody anything, so that validation can use it too.
 */
import { dictionary } from '../../shared/text/dictionary.ts';
import type { Bootstrap } from '../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { Clock } from '../../shared/process/clock.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import { ConfigError } from '../config/config-error.ts';
import { loadBootstrap, type LoadedMessage } from '../config/load-config.ts';
import { checkScripts } from '../scripts/checked-scripts.ts';
import type { Problem } from '../config/problem.ts';
import type { RuntimeTexts } from '../config/validate/api-status.ts';
import {
  resolveBootstrap,
  type BootstrapOverrides,
  type BootstrapResolution,
} from '../resources/bootstrap/resolve-bootstrap.ts';
import { readDisabledExtensions } from '../resources/disabled-extensions.ts';
import { FilterSkips } from '../resolved/filter-skips.ts';
import type { ResolvedBootstrap } from '../resolved/resolved-bootstrap.ts';
import { ResourceStore } from '../store/resource-store.ts';
import { readDiskLayer, readStaticLayer, type LayerValues } from '../runtime/runtime-layers.ts';
import { type RuntimeLayer } from '../resolved/runtime-layer.ts';
import { storeStaticResources } from '../store/static-store.ts';

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
  /** Uses of what will go away or may change. */
  readonly featureUses: LoadedMessage<Bootstrap>['featureUses'];
  /** Warnings about what is accepted though it has no effect or will go away, with positions. */
  readonly warnings: readonly Problem[];
  /** Problems that are found later, with their positions in the bootstrap. */
  readonly locate: LoadedMessage<Bootstrap>['locate'];
}

const log = getLogger('misc');

/** Rejects with `ConfigError`, which names every mistake. */
export async function loadConfiguration(options: Options, clock: Clock): Promise<Configuration> {
  const disabled = readDisabledExtensions(options.disabledExtensions);
  for (const { level, text } of disabled.notes) log.log(level, text);
  const filterSkips = new FilterSkips(options.skippedFilters);
  const overrides = {
    ...options,
    disabledExtensions: disabled.names,
    filterSkips,
    isForValidation: options.mode === 'validate',
    skipSecrets: options.mode === 'validate' && options.validateSkipSecrets,
  };
  const { loaded, resolution } = await loadChecked(options, overrides);
  const { bootstrap: resolved, resources } = resolution;
  if (resolved === undefined) throw new Error('a bootstrap with mistakes was accepted');
  for (const { rule, message } of loaded.warnings)
    if (rule === 'skipped') filterSkips.note(message);
  const loadedAtMs = clock.wallMs();
  const store = new ResourceStore();
  storeStaticResources(store, resources, loadedAtMs);
  return {
    bootstrap: loaded.message,
    resolved,
    store,
    loadedAtMs,
    unknownFieldCount: loaded.unknownFieldCount,
    featureUses: loaded.featureUses,
    warnings: loaded.warnings.filter(
      ({ rule }) => !(options.skipDeprecatedLogs && rule === 'deprecated'),
    ),
    locate: loaded.locate,
  };
}

interface Checked {
  readonly loaded: LoadedMessage<Bootstrap>;
  readonly resolution: BootstrapResolution;
}

/** A second time when the runtime layers on disk may allow what was refused. */
async function loadChecked(
  options: Options,
  overrides: BootstrapOverrides,
  runtime?: RuntimeTexts,
): Promise<Checked> {
  const found: { resolution?: BootstrapResolution } = {};
  const source = { configPath: options.configPath, configYaml: options.configYaml };
  try {
    const loaded = await loadBootstrap(source, {
      unknownFields: options.allowUnknownStaticFields ? 'warn' : 'refuse',
      refusesRepeatedKeys: options.strictYaml,
      // Nothing waits for the loop of a process that only validates.
      ...(options.mode === 'validate' ? { inlineLimitBytes: Number.MAX_SAFE_INTEGER } : {}),
      ...(runtime === undefined ? {} : { runtime }),
      check: async (message) => {
        const { static_resources: statics, bootstrap_extensions: extensions } =
          message as Bootstrap;
        const ofClusters = statics?.clusters?.flatMap(
          ({ load_balancing_policy: policy, cluster_type: type }) => [policy, type],
        );
        await checkScripts([statics?.listeners, ofClusters, extensions], undefined);
        found.resolution = await resolveBootstrap(message, overrides);
        return found.resolution.problems;
      },
    });
    if (found.resolution === undefined) throw new Error('a bootstrap was not resolved');
    return { loaded, resolution: found.resolution };
  } catch (error) {
    const layers = found.resolution?.bootstrap?.runtimeLayers ?? [];
    const isForDisk =
      runtime === undefined &&
      layers.some(({ kind }) => kind === 'disk') &&
      error instanceof ConfigError &&
      error.problems.some(({ rule }) => rule === 'deprecated_refused');
    if (!isForDisk) throw error;
    return await loadChecked(options, overrides, await runtimeTexts(layers));
  }
}

/** What the layers say before anybody changes them. */
async function runtimeTexts(layers: readonly RuntimeLayer[]): Promise<RuntimeTexts> {
  const texts = dictionary<string>();
  for (const layer of layers) {
    let values: LayerValues | undefined;
    if (layer.kind === 'static') values = readStaticLayer(layer.values);
    if (layer.kind === 'disk') values = await readDiskLayer(layer);
    for (const [key, { text }] of values ?? []) texts[key] = text;
  }
  return texts;
}
