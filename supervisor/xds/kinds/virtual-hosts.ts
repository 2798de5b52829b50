/**
 * Virtual hosts that complete a route configuration: those that a control plane sends by itself,
 * and those that it is asked for because a request needs them. Resources are named after their
 * route configuration and domain; others are not for this one.
 */
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { ConfigSource } from '../../resolved/config-source.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { DiscoverySources } from '../subscriptions/discovery-sources.ts';
import { DiscoveryStats } from '../subscriptions/discovery-stats.ts';
import type { DiscoveryUpdate } from '../subscriptions/discovery-update.ts';
import { SharedResource } from './named-resources.ts';

export interface VirtualHostsOptions {
  /** The route configuration's name. */
  readonly name: string;
  readonly statPrefix: string;
  readonly source: ConfigSource;
  readonly sources: DiscoverySources;
  readonly statStore: StatStore;
  readonly clock: Clock;
  /** Brings the present hosts into force; resolves with why that cannot be. */
  readonly changed: (versionInfo: string) => Promise<string | undefined>;
}

interface Pending {
  readonly answered: (() => void)[];
  readonly limit: Timer;
}

/** Names that are asked for at a time; requests for further ones do not wait. */
const PENDING_LIMIT = 10_000;
/** A control plane that did not answer by then is asked again by the next request. */
const ANSWER_LIMIT_MS = 15_000;

export class VirtualHosts extends SharedResource {
  readonly #options: VirtualHostsOptions;
  readonly #stats: DiscoveryStats;
  readonly #pending = new Map<string, Pending>();
  /** By resource name. */
  #hosts: ReadonlyMap<string, JsonObject> = new Map();

  constructor(options: VirtualHostsOptions) {
    super();
    this.#options = options;
    const { sources, source, statStore, statPrefix, name } = options;
    const prefix = `http.${statPrefix}.rds.vhds.${name}.`;
    this.#stats = DiscoveryStats.at(statStore, prefix, { reloads: true, countsEmpty: true });
    this.subscribe((interest) => sources.open(interest), {
      kind: 'virtual_host',
      source,
      names: [],
      stats: this.#stats,
    });
  }

  get messages(): readonly JsonObject[] {
    return [...this.#hosts.values()];
  }

  /** Asks for the host of a request; `answered` is called once, whatever comes of it. */
  override wanted(host: string, answered: () => void): void {
    const name = `${this.#options.name}/${host.toLowerCase()}`;
    const known = this.#pending.get(name);
    if (known !== undefined) {
      known.answered.push(answered);
      return;
    }
    if (this.#hosts.has(name) || this.#pending.size >= PENDING_LIMIT) return answered();
    const limit = this.#options.clock.after(ANSWER_LIMIT_MS, () => this.#answer(name));
    this.#pending.set(name, { answered: [answered], limit });
    this.want(name);
  }

  async update({
    resources,
    removed,
    heartbeats = [],
    versionInfo,
  }: DiscoveryUpdate): Promise<string | undefined> {
    const before = this.#hosts;
    const hosts = new Map(before);
    const namespace = `${this.#options.name}/`;
    for (const name of removed === 'rest' ? [] : removed) hosts.delete(name);
    for (const { name, message } of resources) {
      if (name.startsWith(namespace)) hosts.set(name, message);
    }
    this.#hosts = hosts;
    const isChanged = hosts.size !== before.size || resources.length > 0;
    const refusal = isChanged ? await this.#options.changed(versionInfo) : undefined;
    if (refusal !== undefined) this.#hosts = before;
    else if (isChanged) this.#stats.reloaded(this.#options.clock.wallMs());
    for (const { name, aliases = [] } of [...resources, ...heartbeats]) {
      for (const each of [name, ...aliases]) this.#answer(each);
    }
    return refusal;
  }

  protected override ended(): void {
    for (const name of this.#pending.keys()) this.#answer(name);
  }

  #answer(name: string): void {
    const pending = this.#pending.get(name);
    if (pending === undefined) return;
    this.#pending.delete(name);
    pending.limit.cancel();
    for (const answered of pending.answered) answered();
  }
}
