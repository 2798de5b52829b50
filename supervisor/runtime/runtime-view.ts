/** What the admin interface reads and changes of the runtime. Types only. */
import type { RuntimeSnapshot } from '../../shared/resources/runtime.ts';

export interface RuntimeView {
  /** The values in force. */
  snapshot(): RuntimeSnapshot;
  layers(): readonly string[];
  /**
   * Sorted by key, those of now, made while they are read; `layerValues` has one text per layer,
   * empty where the layer has none.
   */
  entries(): Iterable<{
    readonly key: string;
    readonly layerValues: readonly string[];
    readonly finalValue: string;
  }>;
  /** Undefined on success, else the reason as Envoy words it. An empty value deletes. */
  modifyAdminLayer(values: ReadonlyMap<string, string>): Promise<string | undefined>;
}
