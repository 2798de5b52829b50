/** A host as modules that balance see it. */
import type { BalancedHost } from '../../../../shared/scripts/balancer.ts';
import { addressOf } from '../../../../shared/addresses/host-address.ts';
import { metadataValue } from '../../../matching/metadata-value.ts';
import type { UpstreamHost } from '../../hosts/host.ts';

export class ShownHost implements BalancedHost {
  readonly #host: UpstreamHost;

  constructor(host: UpstreamHost) {
    this.#host = host;
  }

  get address(): string {
    return addressOf(this.#host.resource);
  }

  get hostname(): string {
    return this.#host.resource.hostname;
  }

  get weight(): number {
    return this.#host.resource.weight;
  }

  get priority(): number {
    return this.#host.resource.priority;
  }

  get health(): BalancedHost['health'] {
    return this.#host.resource.health;
  }

  get locality(): BalancedHost['locality'] {
    const { region, zone, subZone } = this.#host.resource;
    return { region, zone, subZone };
  }

  get isCanary(): boolean {
    return this.#host.resource.canary;
  }

  get activeRequests(): number {
    return this.#host.activeRequests;
  }

  metadata(namespace: string): unknown {
    return metadataValue(this.#host.resource.metadata, namespace, []);
  }

  /** The host that `shown` stands for; undefined: it is none that was made here. */
  static hostOf(shown: unknown): UpstreamHost | undefined {
    return typeof shown === 'object' && shown !== null && #host in shown ? shown.#host : undefined;
  }
}
