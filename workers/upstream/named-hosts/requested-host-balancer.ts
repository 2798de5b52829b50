/**
 * Takes the host that filters or a request's header name by address, else the one that its client
 * meant to connect to: a cluster whose hosts are those that were asked for. A host that is not
 * there yet is made.
 */
import { metadataValue } from '../../matching/metadata-value.ts';
import type { OriginalDstOptions } from '../../../shared/resources/clusters/provided-policy.ts';
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import { parseIpPort } from '../../stream/ip-port.ts';
import type { Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import {
  type BalanceContext,
  type LoadBalancer,
  nothingToPrepare,
} from '../balancing/load-balancer.ts';

const FILTER_STATE_KEY = 'envoy.network.transport_socket.original_dst_address';
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

  choose(context: BalanceContext): UpstreamHost | undefined {
    const address =
      parseIpPort(context.filterState?.(FILTER_STATE_KEY) ?? '') ??
      this.#read(this.#inMetadata(context)) ??
      this.#read(this.#inHeader(context)) ??
      context.originalDestination;
    if (address === undefined) return undefined;
    return this.#parts.hostAt(address.ip, this.#parts.options.portOverride ?? address.port);
  }

  /** Hosts are looked up by address. */
  prepare(): Steps<() => void> {
    return nothingToPrepare();
  }

  /** The host in the metadata; of a list the first. */
  #inMetadata({ dynamicMetadata }: BalanceContext): unknown {
    const { metadataKey: key } = this.#parts.options;
    if (key === undefined) return undefined;
    const value = metadataValue(dynamicMetadata, key.namespace, key.path);
    return Array.isArray(value) ? value[0] : value;
  }

  #inHeader({ requestHeaders }: BalanceContext): string | undefined {
    const { header } = this.#parts.options;
    const text = header === undefined ? undefined : requestHeaders.get(header);
    return text === '' ? undefined : text;
  }

  #read(text: unknown): ReturnType<typeof parseIpPort> {
    if (typeof text !== 'string') return undefined;
    const address = parseIpPort(text);
    if (address === undefined) this.#parts.count(INVALID);
    return address;
  }
}
