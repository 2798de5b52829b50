/**
 * Takes the host that a request's header names by address, else the one that its client meant to
 * connect to: a cluster whose hosts are those that were asked for. A host that is not there yet is made.
 */
import type { OriginalDstOptions } from '../../shared/resources/cluster.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import { parseIpPort } from '../http/ip-port.ts';
import type { HeaderMap } from '../http/header-map.ts';
import type { Steps } from '../sliced-work.ts';
import type { UpstreamHost } from './host.ts';
import { type BalanceContext, type LoadBalancer, nothingToPrepare } from './load-balancer.ts';

const INVALID = CLUSTER.index.original_dst_host_invalid;

export interface RequestedHostParts {
  readonly options: OriginalDstOptions;
  /** The cluster's host with this address. */
  hostAt(ip: string, port: number): UpstreamHost;
  /** Counts one of the cluster's statistics. */
  readonly count: (offset: number) => void;
}

export class RequestedHostBalancer implements LoadBalancer {
  readonly #parts: RequestedHostParts;
  readonly isPanicking = false;

  constructor(parts: RequestedHostParts) {
    this.#parts = parts;
  }

  choose({ requestHeaders, originalDestination }: BalanceContext): UpstreamHost | undefined {
    const address = this.#fromHeader(requestHeaders) ?? originalDestination;
    if (address === undefined) return undefined;
    return this.#parts.hostAt(address.ip, this.#parts.options.portOverride ?? address.port);
  }

  /** Hosts are looked up by address. */
  prepare(): Steps<() => void> {
    return nothingToPrepare();
  }

  #fromHeader(headers: HeaderMap): ReturnType<typeof parseIpPort> {
    const { options, count } = this.#parts;
    const text = options.header === undefined ? undefined : headers.get(options.header);
    if (text === undefined || text === '') return undefined;
    const address = parseIpPort(text);
    if (address === undefined) count(INVALID);
    return address;
  }
}
