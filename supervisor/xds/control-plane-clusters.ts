/** Picks hosts of clusters for the supervisor's own requests, in turn, and counts them as the cluster's. */
import type { HostAddress } from '../../shared/resources/cluster.ts';
import { socketOf } from '../../shared/resources/socket-match.ts';
import type { TlsSecret, UpstreamTls } from '../../shared/resources/tls.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import { completeTls, secretKeysOf } from '../../shared/tls/complete-tls.ts';
import { SecretMissingError } from '../../shared/tls/tls-errors.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { LiveCluster } from '../upstreams/live-cluster.ts';
import { ControlPlaneTls, type Secure } from './control-plane-tls.ts';

/** The clusters of this server, as far as its own requests need them. */
export interface ControlPlaneClusters {
  /**
   * A host to ask; undefined when there is none. The request is counted as the cluster's. Throws when
   * the cluster's TLS cannot be used.
   */
  pick(cluster: string, protocol: 'h2' | 'http/1.1'): PickedHost | undefined;
}

export interface PickedHost {
  readonly address: HostAddress;
  /** Absent: plain text. */
  readonly secure?: Secure;
}

/** The secret of this key, where it has come. */
export type SecretOf = (key: string) => TlsSecret | undefined;

interface KnownTls {
  readonly config: UpstreamTls;
  readonly secrets: readonly (TlsSecret | undefined)[];
  readonly made: ControlPlaneTls;
}

export class OwnRequests implements ControlPlaneClusters {
  readonly #find: (name: string) => LiveCluster | undefined;
  readonly #store: StatStore;
  readonly #secretOf: SecretOf;
  /** By cluster; of another version of it or with other secrets the contexts are made anew. */
  readonly #tls = new Map<string, KnownTls>();
  #turn = 0;

  constructor(
    find: (name: string) => LiveCluster | undefined,
    store: StatStore,
    secretOf: SecretOf,
  ) {
    this.#find = find;
    this.#store = store;
    this.#secretOf = secretOf;
  }

  pick(cluster: string, protocol: 'h2' | 'http/1.1'): PickedHost | undefined {
    const live = this.#find(cluster);
    const hosts = live?.hosts.hosts ?? [];
    if (live === undefined || hosts.length === 0) return undefined;
    const usable = hosts.filter(({ health }) => health !== 'unhealthy');
    const some = usable.length > 0 ? usable : hosts;
    const { resource } = live.resolved;
    const { statName } = resource;
    const base = this.#store.defineBlock(CLUSTER, `cluster.${statName}.`);
    this.#store.increment(base + CLUSTER.index.upstream_rq_total);
    this.#store.increment(base + CLUSTER.index.upstream_cx_total);
    this.#store.releaseBlock(base);
    const host = some[this.#turn++ % some.length];
    if (host === undefined) return undefined;
    const { tls: config } = socketOf(resource, host);
    if (config === undefined) return { address: host.address };
    const secured = this.#tlsOf(config, statName);
    return {
      address: host.address,
      secure: (socket) => secured.secure(socket, host.hostname, protocol),
    };
  }

  #tlsOf(config: UpstreamTls, statName: string): ControlPlaneTls {
    const known = this.#tls.get(statName);
    const secrets = secretKeysOf(config).map((key) => this.#secretOf(key));
    const isSame = known?.secrets.every((secret, index) => secret === secrets[index]) === true;
    if (known?.config === config && isSame) return known.made;
    const complete = completeTls(config, this.#secretOf);
    if (complete === undefined) throw new SecretMissingError();
    known?.made.release();
    const made = new ControlPlaneTls({ config, ...complete }, this.#store, `cluster.${statName}.`);
    this.#tls.set(statName, { config, secrets, made });
    return made;
  }
}
