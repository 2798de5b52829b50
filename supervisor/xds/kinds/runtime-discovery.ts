/**
 * Runtime layers from elsewhere: one subscription each, whose values replace the layer as a whole.
 */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { RuntimeLayerError } from '../../runtime/runtime-layers.ts';
import { type RuntimeLayer } from '../../resolved/runtime-layer.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { DiscoverySources, OpenSubscription } from '../subscriptions/discovery-sources.ts';
import { DiscoveryStats } from '../subscriptions/discovery-stats.ts';
import type { DiscoveryConsumer, DiscoveryUpdate } from '../subscriptions/discovery-update.ts';

/** Where the values go. */
export interface RuntimeSink {
  /** Throws RuntimeLayerError. */
  putRtdsLayer(resource: string, values: JsonObject): void;
}

export interface RuntimeDiscoveryOptions {
  readonly layers: readonly RuntimeLayer[];
  readonly runtime: RuntimeSink;
  readonly sources: DiscoverySources;
  readonly statStore: StatStore;
}

export class RuntimeDiscovery {
  readonly #options: RuntimeDiscoveryOptions;
  readonly #subscriptions: OpenSubscription[] = [];

  constructor(options: RuntimeDiscoveryOptions) {
    this.#options = options;
  }

  /** Resolves when the first answer for every layer was taken or waited for in vain. */
  async start(): Promise<void> {
    const { layers, sources, statStore, runtime } = this.#options;
    const waits = layers.map(async (layer) => {
      if (layer.kind !== 'rtds') return;
      const { source, resource } = layer;
      await new Promise<void>((settled) => {
        const subscription = sources.open({
          kind: 'runtime',
          source,
          names: [resource],
          stats: DiscoveryStats.at(statStore, 'runtime.'),
          consumer: new LayerConsumer(resource, runtime, settled),
        });
        this.#subscriptions.push(subscription);
        subscription.start();
      });
    });
    await Promise.all(waits);
  }

  close(): void {
    for (const subscription of this.#subscriptions.splice(0)) subscription.close();
  }
}

class LayerConsumer implements DiscoveryConsumer {
  readonly #resource: string;
  readonly #runtime: RuntimeSink;
  readonly settled: () => void;

  constructor(resource: string, runtime: RuntimeSink, settled: () => void) {
    this.#resource = resource;
    this.#runtime = runtime;
    this.settled = settled;
  }

  /** The texts of refusals are Envoy's. */
  async update({ resources, removed }: DiscoveryUpdate): Promise<string | undefined> {
    const gone = removed === 'rest' ? [] : removed;
    const [found] = resources;
    if (resources.length + gone.length !== 1) {
      return `Unexpected RTDS resource length, number of added resources ${resources.length}, number of removed resources ${gone.length}`;
    }
    const name = found === undefined ? gone[0] : found.name;
    if (name !== this.#resource) {
      return `Unexpected RTDS runtime (expecting ${this.#resource}): ${name}`;
    }
    try {
      this.#runtime.putRtdsLayer(name, (found?.message['layer'] ?? {}) as JsonObject);
    } catch (error) {
      if (error instanceof RuntimeLayerError) return error.message;
      throw error;
    }
    return undefined;
  }

  refused(): void {}
}
