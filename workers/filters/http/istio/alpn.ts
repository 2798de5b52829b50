/**
 * Has TLS towards hosts offer other protocols, by what requests are there. A peer tells by them that
 * the other end is of its mesh. Source: istio.alpn.
 */
import type {
  AlpnFilterSettings,
  AlpnOptions,
} from '../../../../shared/resources/filters/http/istio/alpn.ts';
import { memberOf } from '../../../../shared/text/dictionary.ts';
import { FilterState } from '../../../net/filter-state.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import { PROTOCOLS_KEY } from '../../../upstream/pools/kept-names.ts';
import type { CallCluster, FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

/** The protocols as they are kept for the router, by what requests are at the host. */
type KeptProtocols = { readonly [Member in keyof AlpnOptions]: string | undefined };

export function makeAlpnFilter(
  { name, options }: AlpnFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { http10, http11, http2 } = options;
  const kept = { http10: http10?.join(), http11: http11?.join(), http2: http2?.join() };
  return { name, create: (callbacks) => new AlpnFilter(kept, context, callbacks) };
}

class AlpnFilter extends PassThroughFilter {
  readonly #kept: KeptProtocols;
  readonly #context: FilterContext;
  readonly #callbacks: FilterCallbacks;

  constructor(kept: KeptProtocols, context: FilterContext, callbacks: FilterCallbacks) {
    super();
    this.#kept = kept;
    this.#context = context;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(): HeadersStatus {
    const { route, info } = this.#callbacks;
    if (route?.kind !== 'cluster') return 'continue';
    const cluster = this.#context.callCluster(route.clusterName);
    if (cluster === undefined) return 'continue';
    const { resource } = cluster;
    if (memberOf(resource.metadata?.['istio'], 'alpn_override') === 'false') return 'continue';
    const protocols = this.#kept[protocolAt(resource, info.protocol)];
    if (protocols === undefined) return 'continue';
    (info.filterState ??= new FilterState()).keep(PROTOCOLS_KEY, protocols, false);
    return 'continue';
  }
}

/** `spoken` is what the client speaks. */
function protocolAt(
  { upstreamHttp: { protocol } }: CallCluster['resource'],
  spoken: string | undefined,
): keyof AlpnOptions {
  if (protocol === 'HTTP1') return 'http11';
  if (protocol !== 'DOWNSTREAM') return 'http2';
  if (spoken === 'HTTP/1.0') return 'http10';
  return spoken === 'HTTP/2' ? 'http2' : 'http11';
}
