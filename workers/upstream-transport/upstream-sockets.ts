/**
 * The transport sockets of one cluster, each made once: its own and those that its matches name.
 */
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import { MetadataExchanges } from '../net/mesh/metadata-exchange.ts';
import { dictionary, type Struct } from '../../shared/text/dictionary.ts';
import type { ClusterResource } from '../../shared/resources/clusters/cluster.ts';
import { SOCKET_MATCH_NAMESPACE, socketOf } from '../../shared/resources/clusters/socket-match.ts';
import type { UpstreamSocketOptions } from '../../shared/resources/transport-sockets.ts';
import type { WatchedSockets } from '../tap/socket-taps.ts';
import type { Taps } from '../tap/taps.ts';
import { UpstreamTlsFactory, type UpstreamTlsEnv } from '../tls/upstream-tls.ts';

export interface UpstreamSocketsEnv extends UpstreamTlsEnv {
  readonly taps: Pick<Taps, 'watch'>;
  readonly node: WorkerHeritage['node'];
}

type Layers = Required<UpstreamSocketOptions>;

/** Layers of which something is made, once for all connections. */
interface MadeLayers {
  readonly tls: UpstreamTlsFactory;
  readonly taps: WatchedSockets;
}

/** Every layer that a socket may have; undefined: this one does not have it. */
export type UpstreamSocket = {
  readonly [Layer in keyof Layers]:
    | (Layer extends keyof MadeLayers ? MadeLayers[Layer] : Layers[Layer])
    | undefined;
};

export class UpstreamSockets {
  /** Of its connections' first bytes; undefined: there is none. */
  readonly exchange: MetadataExchanges | undefined;
  readonly #resource: ClusterResource;
  readonly #own: UpstreamSocket;
  readonly #matched = new Map<string, UpstreamSocket>();

  /** Throws when OpenSSL does not take a configuration. */
  constructor(resource: ClusterResource, env: UpstreamSocketsEnv) {
    const { metadataExchange: exchange } = resource;
    this.#resource = resource;
    this.exchange = exchange && new MetadataExchanges(exchange, env.node, env.stats);
    this.#own = makeSocket(resource, env);
    for (const match of resource.socketMatches ?? []) {
      if (!this.#matched.has(match.name)) this.#matched.set(match.name, makeSocket(match, env));
    }
  }

  of({ resource }: { readonly resource: HostResource }): UpstreamSocket {
    if (this.#matched.size === 0) return this.#own;
    return this.#matched.get(socketOf(this.#resource, resource).name) ?? this.#own;
  }

  /** For connections that choose by other metadata than the host's. */
  matching(criteria: Struct): UpstreamSocket {
    const metadata = dictionary([[SOCKET_MATCH_NAMESPACE, criteria]]);
    return this.#matched.get(socketOf(this.#resource, { metadata }).name) ?? this.#own;
  }

  release(): void {
    this.exchange?.release();
    for (const { tls, taps } of [this.#own, ...this.#matched.values()]) {
      tls?.release();
      taps?.release();
    }
  }
}

function makeSocket(
  { tls, proxyProtocol, handedOn, taps }: UpstreamSocketOptions,
  env: UpstreamSocketsEnv,
): UpstreamSocket {
  const own = tls && new UpstreamTlsFactory(tls, env);
  return { tls: own, proxyProtocol, handedOn, taps: env.taps.watch(taps) };
}
