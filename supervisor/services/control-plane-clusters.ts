/**
 * Picks hosts of clusters for the supervisor's own requests, in turn, with what counts for the
 * cluster.
 */
import type { HostAddress } from '../../shared/resources/clusters/cluster.ts';
import type { Http2PingOptions } from '../../shared/resources/http2-options.ts';
import { socketOf } from '../../shared/resources/clusters/socket-match.ts';
import type { TlsSecret, UpstreamTls } from '../../shared/resources/tls.ts';
import type { Clock } from '../../shared/process/clock.ts';
import { completeTls, secretKeysOf } from '../../shared/tls/complete-tls.ts';
import { SecretMissingError } from '../../shared/tls/tls-errors.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { LiveCluster } from '../upstreams/live-cluster.ts';
import { ControlPlaneTls, type Secure } from './control-plane-tls.ts';
import { OwnRequestStats, type OwnProtocol } from './own-request-stats.ts';

/** The clusters of this server, as far as its own requests need them. */
export interface ControlPlaneClusters {
  /**
   * A host to ask; undefined when there is none. It is spoken to by `protocol` where that is given,
   * else as the cluster says. Throws when its TLS cannot be used.
   */
  pick(cluster: string, protocol?: 'h2'): PickedHost | undefined;
}

/** How often a host is asked whether it is there, and for how long it may keep silent. */
export type OwnPings = Pick<Http2PingOptions, 'intervalMs' | 'timeoutMs'>;

export interface PickedHost {
  readonly address: HostAddress;
  readonly protocol: OwnProtocol;
  /** Absent: plain text. */
  readonly secure?: Secure;
  /** Absent: the host is not asked whether it is there. */
  readonly keepAlive?: OwnPings;
  /** Counts what is done as the cluster's. */
  readonly stats: OwnRequestStats;
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
  /** By cluster; of another version of it or with other secrets the contexts are made again. */
  readonly #tls = new Map<string, KnownTls>();
  readonly #stats = new Map<string, OwnRequestStats>();
  readonly #clock: Clock;
  #turn = 0;

  constructor(
    find: (name: string) => LiveCluster | undefined,
    store: StatStore,
    secretOf: SecretOf,
    clock: Clock,
  ) {
    this.#clock = clock;
    this.#find = find;
    this.#store = store;
    this.#secretOf = secretOf;
  }

  pick(cluster: string, given?: 'h2'): PickedHost | undefined {
    const live = this.#find(cluster);
    const hosts = live?.hosts.hosts ?? [];
    if (live === undefined || hosts.length === 0) return undefined;
    const usable = hosts.filter(({ health }) => health !== 'unhealthy');
    const some = usable.length > 0 ? usable : hosts;
    const { resource } = live.resolved;
    const { statName } = resource;
    const stats = this.#statsOf(statName);
    const host = some[this.#turn++ % some.length];
    if (host === undefined) return undefined;
    const isHttp2 = given === 'h2' || resource.upstreamHttp.protocol === 'HTTP2';
    const protocol: OwnProtocol = isHttp2 ? 'h2' : 'http/1.1';
    const { address } = host;
    const { tls: config } = socketOf(resource, host);
    const { keepAlive } = resource.upstreamHttp.http2 ?? {};
    const asks = keepAlive !== undefined && keepAlive.intervalMs > 0;
    const plain = { address, protocol, stats, ...(asks ? { keepAlive } : {}) };
    if (config === undefined) return plain;
    const secured = this.#tlsOf(config, statName);
    return {
      ...plain,
      secure: (socket) => secured.secure(socket, host.hostname, protocol),
    };
  }

  #statsOf(statName: string): OwnRequestStats {
    const known = this.#stats.get(statName);
    if (known !== undefined) return known;
    const made = new OwnRequestStats(this.#store, this.#clock, statName);
    this.#stats.set(statName, made);
    return made;
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
