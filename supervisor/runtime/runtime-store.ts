/**
 * The runtime: values by key in layers, changed while the server runs. Owns loading, watching and
 * the `runtime.` statistics, and tells subscribers (who send workers their snapshot) of each
 * change. It knows nothing of what the values mean.
 */
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorText } from '../../shared/text/error-text.ts';
import type { RuntimeSnapshot, RuntimeValue } from '../../shared/resources/runtime.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { RUNTIME } from '../../shared/stats/templates/server.ts';
import type { RuntimeView } from './runtime-view.ts';
import { readDiskLayer, readStaticLayer } from './runtime-layers.ts';
import type { LayerValues } from './runtime-layers.ts';
import type { RuntimeLayer } from '../resolved/runtime-layer.ts';
import { RuntimeTextError, valueOfText } from './runtime-value.ts';

export interface RuntimeStoreParts {
  readonly layers: readonly RuntimeLayer[];
  readonly statWriter: StatWriter;
  readonly log: (level: 'debug' | 'warning', text: string) => void;
  /** Uses in the bootstrap, before the runtime was opened. */
  readonly deprecatedUses?: number;
}

/** A disk layer's link cannot be watched. */
class RuntimeWatchError extends Error {
  readonly code = 'runtime_watch';
}

export class RuntimeStore implements RuntimeView {
  readonly #parts: RuntimeStoreParts;
  readonly #stats: number;
  readonly #loaded = new Map<RuntimeLayer, LayerValues>();
  /** Another one after each change: a page may still be made of the one before. */
  #adminValues: LayerValues = new Map();
  readonly #subscribers = new Set<(snapshot: RuntimeSnapshot) => void>();
  readonly #watchers: FSWatcher[] = [];
  #snapshot: RuntimeSnapshot = new Map();
  #failedLayers = 0;
  #reading: Promise<void> = Promise.resolve();

  private constructor(parts: RuntimeStoreParts) {
    this.#parts = parts;
    this.#stats = parts.statWriter.defineBlock(RUNTIME, 'runtime.');
  }

  /** Rejects with RuntimeLayerError or RuntimeWatchError: the configuration is wrong then. */
  static async open(parts: RuntimeStoreParts): Promise<RuntimeStore> {
    const store = new RuntimeStore(parts);
    for (const layer of parts.layers) {
      if (layer.kind === 'static') store.#loaded.set(layer, readStaticLayer(layer.values));
    }
    await store.#readDisk();
    store.#watchLinks();
    // Envoy loads a second time when its RTDS layers are ready, even if there is none, and
    // counts it.
    store.#publish();
    store.countDeprecated(parts.deprecatedUses ?? 0);
    return store;
  }

  /** Layers that are there now: a disk layer without its folder is not. */
  layers(): readonly string[] {
    return this.#presentLayers().map(({ name }) => name);
  }

  entries(): ReturnType<RuntimeView['entries']> {
    const layers = this.#presentLayers().map((layer) => this.#valuesOf(layer));
    return entriesOf(this.#snapshot, layers);
  }

  /** The final values; a new object after each change. */
  snapshot(): RuntimeSnapshot {
    return this.#snapshot;
  }

  /** Called after each change with the new values. Returns what ends it. */
  subscribe(listener: (snapshot: RuntimeSnapshot) => void): () => void {
    this.#subscribers.add(listener);
    return () => this.#subscribers.delete(listener);
  }

  /** All or nothing. Undefined on success, else why not. */
  async modifyAdminLayer(values: ReadonlyMap<string, string>): Promise<string | undefined> {
    const hasAdminLayer = this.#parts.layers.some(({ kind }) => kind === 'admin');
    if (!hasAdminLayer) return 'No admin layer specified';
    const parsed = new Map<string, RuntimeValue | undefined>();
    try {
      for (const [key, text] of values) {
        parsed.set(key, text === '' ? undefined : await valueOfText(text));
      }
    } catch (error) {
      if (error instanceof RuntimeTextError) return error.message;
      throw error;
    }
    const changed = new Map(this.#adminValues);
    for (const [key, value] of parsed) {
      if (value === undefined) changed.delete(key);
      else changed.set(key, value);
    }
    this.#adminValues = changed;
    this.#publish();
    return undefined;
  }

  /** Values of an RTDS layer, from its subscription. Throws RuntimeLayerError. */
  putRtdsLayer(resource: string, values: Parameters<typeof readStaticLayer>[0]): void {
    for (const layer of this.#parts.layers) {
      if (layer.kind === 'rtds' && layer.resource === resource) {
        this.#loaded.set(layer, readStaticLayer(values));
      }
    }
    this.#publish();
  }

  /** Counts uses of deprecated fields in configuration. */
  countDeprecated(uses: number): void {
    if (uses === 0) return;
    const { statWriter } = this.#parts;
    const seen = this.#stats + RUNTIME.index.deprecated_feature_seen_since_process_start;
    statWriter.add(this.#stats + RUNTIME.index.deprecated_feature_use, uses);
    statWriter.setGauge(seen, statWriter.valueOf(seen) + uses);
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#subscribers.clear();
  }

  #valuesOf(layer: RuntimeLayer): LayerValues | undefined {
    return layer.kind === 'admin' ? this.#adminValues : this.#loaded.get(layer);
  }

  #presentLayers(): RuntimeLayer[] {
    return this.#parts.layers.filter(
      (layer) => layer.kind === 'rtds' || this.#valuesOf(layer) !== undefined,
    );
  }

  // One after another: two swaps in a row must not end with the older values.
  async #readDisk(): Promise<void> {
    this.#reading = this.#reading.then(async () => await this.#readDiskNow());
    await this.#reading;
  }

  async #readDiskNow(): Promise<void> {
    this.#failedLayers = 0;
    for (const layer of this.#parts.layers) {
      if (layer.kind !== 'disk') continue;
      try {
        const values = await readDiskLayer(layer);
        if (values === undefined) this.#loaded.delete(layer);
        else this.#loaded.set(layer, values);
      } catch (error) {
        this.#failedLayers++;
        this.#loaded.delete(layer);
        const reason = errorText(error);
        this.#parts.log('warning', `cannot load runtime layer ${layer.name}: ${reason}`);
      }
    }
    this.#publish();
  }

  #publish(): void {
    const merged = new Map<string, RuntimeValue>();
    for (const layer of this.#presentLayers()) {
      for (const [key, value] of this.#valuesOf(layer) ?? []) merged.set(key, value);
    }
    this.#snapshot = new Map([...merged].sort(([left], [right]) => (left < right ? -1 : 1)));
    this.#count();
    for (const listener of this.#subscribers) listener(this.#snapshot);
  }

  #count(): void {
    const { statWriter } = this.#parts;
    const at = (name: keyof typeof RUNTIME.index) => this.#stats + RUNTIME.index[name];
    const present = this.#presentLayers();
    const diskLayers = present.filter(({ kind }) => kind === 'disk').length;
    statWriter.increment(at(this.#failedLayers === 0 ? 'load_success' : 'load_error'));
    statWriter.increment(at(diskLayers > 1 ? 'override_dir_exists' : 'override_dir_not_exists'));
    statWriter.setGauge(at('num_layers'), present.length);
    statWriter.setGauge(at('num_keys'), this.#snapshot.size);
    const isOverridden = this.#adminValues.size > 0 ? 1 : 0;
    // Unused until somebody sets a value.
    if (statWriter.valueOf(at('admin_overrides_active')) !== isOverridden) {
      statWriter.setGauge(at('admin_overrides_active'), isOverridden);
    }
  }

  // The swap renames a new link over the old one, which the folder around it sees.
  #watchLinks(): void {
    for (const layer of this.#parts.layers) {
      if (layer.kind !== 'disk') continue;
      const link = basename(layer.symlinkRoot);
      try {
        const watcher = watch(dirname(layer.symlinkRoot), { persistent: false }, (event, name) => {
          if (event === 'rename' && name === link) void this.#readDisk();
        });
        watcher.on('error', (error) => this.#parts.log('warning', describeWatch(layer, error)));
        this.#watchers.push(watcher);
      } catch (error) {
        this.close();
        throw new RuntimeWatchError(describeWatch(layer, error as Error), { cause: error });
      }
    }
  }
}

function* entriesOf(
  values: RuntimeSnapshot,
  layers: readonly (LayerValues | undefined)[],
): ReturnType<RuntimeView['entries']> & Generator {
  for (const [key, { text }] of values) {
    const layerValues = layers.map((layer) => layer?.get(key)?.text ?? '');
    yield { key, layerValues, finalValue: text };
  }
}

function describeWatch(layer: Extract<RuntimeLayer, { kind: 'disk' }>, error: Error): string {
  return `cannot watch '${layer.symlinkRoot}' for runtime layer ${layer.name}: ${error.message}`;
}
