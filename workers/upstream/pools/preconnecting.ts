/**
 * Connections made ahead of requests to the hosts that will be chosen next: remembers the choices
 * that it looked at, so that they are the ones made. Only for policies that choose without the
 * request.
 */
import { HeaderMap } from '../../stream/header-map.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { BalanceContext } from '../balancing/load-balancer.ts';
import { needsConnection, type PoolLoad, type PreconnectedPool } from './pool-load.ts';

/** Connections that one request may begin. */
const CONNECTIONS_AT_ONCE = 3;

export interface PreconnectingParts {
  readonly ratio: number;
  readonly hosts: () => readonly UpstreamHost[];
  chooseNext(context: BalanceContext): UpstreamHost | undefined;
}

/** A choice that depends on no request. */
const NO_REQUEST: BalanceContext = {
  requestHeaders: new HeaderMap(),
  computeHash: () => undefined,
  maxHostDraws: 0,
  refusesHost: () => false,
};

export class Preconnecting {
  readonly #parts: PreconnectingParts;
  #chosen: UpstreamHost[] = [];

  constructor(parts: PreconnectingParts) {
    this.#parts = parts;
  }

  /** The choice that was looked at first; undefined: there is none. */
  take(): UpstreamHost | undefined {
    return this.#chosen.shift();
  }

  /** The hosts are others. */
  forget(): void {
    this.#chosen = [];
  }

  /** A request is about to begin at a host that was chosen. */
  connectAhead(poolOf: (host: UpstreamHost) => PreconnectedPool): void {
    const { ratio, hosts } = this.#parts;
    const usable = hosts().filter(({ health }) => health !== 'unhealthy').length;
    for (let made = 0; made < CONNECTIONS_AT_ONCE; made++) {
      if (!needsConnection(loadOf(hosts()), ratio, 1) || this.#chosen.length >= usable) return;
      const host = this.#parts.chooseNext(NO_REQUEST);
      if (host === undefined) return;
      this.#chosen.push(host);
      if (!poolOf(host).preconnect(ratio)) return;
    }
  }
}

/** The load of all hosts together, in this worker. */
function loadOf(hosts: readonly UpstreamHost[]): PoolLoad {
  const sum = { pending: 0, active: 0, capacity: 0 };
  for (const host of hosts) {
    for (const { load } of host.allPools()) {
      sum.pending += load.pending;
      sum.active += load.active;
      sum.capacity += load.capacity;
    }
  }
  return sum;
}
