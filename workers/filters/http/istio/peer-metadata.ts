/**
 * Learns from requests and responses which workload the other end is, tells it which this one is,
 * and takes these headers away. Source: envoy.filters.http.peer_metadata of Istio.
 */
import type {
  PeerDiscovery,
  PeerMetadataFilterSettings,
  PeerPropagation,
} from '../../../../shared/resources/filters/http/istio/peer-metadata.ts';
import { readMessage } from '../../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import { readStruct, writeMembers } from '../../../../shared/protobuf/struct-message.ts';
import { memberOf } from '../../../../shared/text/dictionary.ts';
import { FilterState } from '../../../net/filter-state.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { filterStateOf } from '../../../stream/stream-info.ts';
import {
  baggageOf,
  metadataOf,
  workloadOf,
  workloadOfBaggage,
  type Workload,
} from '../../../net/mesh/istio-workload.ts';
import { keepPeer, peerKey, type PeerSide } from '../../../net/mesh/peer-state.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

const ID = 'x-envoy-peer-metadata-id';
const METADATA = 'x-envoy-peer-metadata';
const BAGGAGE = 'baggage';
/** Workloads that were read; beyond, the oldest quarter is forgotten. */
const MAX_KNOWN = 500;

/** What all requests of one filter share. */
class PeerMetadata {
  readonly settings: PeerMetadataFilterSettings['options'];
  readonly context: FilterContext;
  readonly ownId: string;
  readonly ownMetadata: string;
  readonly ownBaggage: string;
  readonly #labels: ReadonlySet<string>;
  /**
   * By the header's text. Envoy goes by the id that comes with it, so that a peer could pass another
   * one's workload off as its own.
   */
  readonly #known = new Map<string, Workload | undefined>();

  constructor(settings: PeerMetadataFilterSettings['options'], context: FilterContext) {
    const { id, region, zone, metadata } = context.node;
    const labels = new Set(settings.additionalLabels);
    const own = workloadOf(metadata, labels, { region, zone });
    const writer = new ProtoWriter();
    writeMembers(writer, metadataOf(own));
    this.settings = settings;
    this.context = context;
    this.ownId = Buffer.from(id).toString('latin1');
    this.ownMetadata = writer.finish().toString('base64');
    this.ownBaggage = Buffer.from(
      baggageOf(workloadOf(metadata, new Set(), { region, zone })),
    ).toString('latin1');
    this.#labels = labels;
  }

  /** What a header says; undefined where it is no message. What is no base64 says nothing. */
  read(text: string): Workload | undefined {
    if (this.#known.has(text)) return this.#known.get(text);
    const bytes = Buffer.from(isBase64(text) ? text : '', 'base64');
    const found = readMessage(bytes, () => workloadOf(readStruct(bytes), this.#labels));
    if (this.#known.size >= MAX_KNOWN) this.#forget();
    this.#known.set(text, found);
    return found;
  }

  #forget(): void {
    let left = MAX_KNOWN / 4;
    for (const key of this.#known.keys()) {
      if (left-- <= 0) return;
      this.#known.delete(key);
    }
  }
}

export function makePeerMetadataFilter(
  { name, options }: PeerMetadataFilterSettings,
  context: FilterContext,
): FilterFactory {
  const shared = new PeerMetadata(options, context);
  return { name, create: (callbacks) => new PeerMetadataFilter(shared, callbacks) };
}

class PeerMetadataFilter extends PassThroughFilter {
  readonly #shared: PeerMetadata;
  readonly #callbacks: FilterCallbacks;
  /** What came with the request, and so is answered. */
  #cameWithId = false;
  #cameWithMetadata = false;

  constructor(shared: PeerMetadata, callbacks: FilterCallbacks) {
    super();
    this.#shared = shared;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { downstreamDiscovery, upstreamPropagation } = this.#shared.settings;
    if (downstreamDiscovery.includes('istio_headers')) {
      this.#cameWithId = headers.get(ID) !== undefined;
      this.#cameWithMetadata = headers.get(METADATA) !== undefined;
    }
    this.#discover('downstream', downstreamDiscovery, headers);
    for (const method of upstreamPropagation) this.#tellHost(method, headers);
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    const { upstreamDiscovery, downstreamPropagation } = this.#shared.settings;
    this.#discover('upstream', upstreamDiscovery, headers);
    for (const method of downstreamPropagation) this.#tellClient(method, headers);
    return 'continue';
  }

  #discover(side: PeerSide, methods: readonly PeerDiscovery[], headers: HeaderMap): void {
    for (const method of methods) {
      const workload = this.#derive(method, headers);
      if (workload === undefined) continue;
      this.#keep(side, workload);
      break;
    }
    if (!methods.includes('istio_headers')) return;
    headers.remove(ID);
    headers.remove(METADATA);
  }

  #derive(method: PeerDiscovery, headers: HeaderMap): Workload | undefined {
    const text = headers.get(method === 'baggage' ? BAGGAGE : METADATA);
    if (text === undefined) return undefined;
    if (method === 'baggage') return workloadOfBaggage(Buffer.from(text, 'latin1').toString());
    return text === '' ? undefined : this.#shared.read(text);
  }

  /** What is known of the peer already stays. */
  #keep(side: PeerSide, workload: Workload): void {
    const { info } = this.#callbacks;
    if (filterStateOf(info, peerKey(side)) !== undefined) return;
    keepPeer((info.filterState ??= new FilterState()), side, workload);
  }

  #tellHost(method: PeerPropagation, headers: HeaderMap): void {
    const { ownId, ownMetadata, ownBaggage } = this.#shared;
    if (method.kind === 'baggage') headers.set(BAGGAGE, ownBaggage);
    else if (!this.#isSilentTowards(method.skipsExternal)) {
      headers.set(ID, ownId);
      headers.set(METADATA, ownMetadata);
    }
  }

  #tellClient(method: PeerPropagation, headers: HeaderMap): void {
    const { ownId, ownMetadata, ownBaggage } = this.#shared;
    if (method.kind === 'baggage') headers.set(BAGGAGE, ownBaggage);
    else if (!this.#isSilentTowards(method.skipsExternal)) {
      if (this.#cameWithId) headers.set(ID, ownId);
      if (this.#cameWithMetadata) headers.set(METADATA, ownMetadata);
    }
  }

  /** The request's cluster says that it is outside of the mesh, or that it wants no metadata. */
  #isSilentTowards(skipsExternal: boolean): boolean {
    const { route } = this.#callbacks;
    if (route?.kind !== 'cluster') return false;
    if (skipsExternal && route.clusterName === 'PassthroughCluster') return true;
    const istio = this.#shared.context.callCluster(route.clusterName)?.resource.metadata?.['istio'];
    if (skipsExternal && memberOf(istio, 'external') === true) return true;
    return memberOf(istio, 'disable_mx') === true;
  }
}

/** With its padding or without. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1;
}
