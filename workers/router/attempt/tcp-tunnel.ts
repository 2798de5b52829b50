/**
 * The way of one request whose payload goes to a host as plain bytes: a CONNECT (or POST) that is
 * terminated here. Stands where a pool would, for a single attempt: opens a connection of its own,
 * answers the request itself as soon as there is one, and passes bytes until either side ends.
 */
import { sharedState, type SharedValue } from '../../net/mesh/shared-state.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { RequestEncoder } from '../../stream/codec.ts';
import { HeaderMap } from '../../stream/header-map.ts';
import type { Address, ConnectionInfo, TlsInfo } from '../../net/connection-info.ts';
import type { UpstreamEnd, UpstreamOwner } from '../../tcp/proxied-upstream.ts';
import { TcpUpstream } from '../../tcp/tcp-upstream.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type {
  StreamSource,
  PoolClient,
  UpstreamConnectionInfo,
} from '../../upstream/pools/http-pool.ts';

const EMPTY = Buffer.alloc(0);

export class TcpTunnel
  implements StreamSource, RequestEncoder, UpstreamOwner, UpstreamConnectionInfo
{
  readonly #cluster: UpstreamCluster;
  readonly #host: UpstreamHost;
  readonly downstreamInfo: ConnectionInfo;
  readonly #info: StreamInfo;
  #client: PoolClient | undefined = undefined;
  #upstream: TcpUpstream | undefined = undefined;
  readonly protocol = undefined;
  readonly requests = 1;
  readonly headerBytesSent = 0;
  readonly headerBytesReceived = 0;
  wireBytesSent = 0;
  wireBytesReceived = 0;

  constructor(cluster: UpstreamCluster, host: UpstreamHost, info: StreamInfo) {
    this.downstreamInfo = info.connection;
    this.#info = info;
    this.#cluster = cluster;
    this.#host = host;
  }

  sharedState(): readonly SharedValue[] | undefined {
    return sharedState(this.#info.filterState, this.downstreamInfo.filterState);
  }

  get id(): number {
    return this.#upstream?.connection?.id ?? 0;
  }

  get openedMs(): number {
    return this.#upstream?.connection?.openedMs ?? -1;
  }

  get connectedMs(): number {
    return this.#upstream?.connection?.connectedMs ?? -1;
  }

  get tls(): TlsInfo | undefined {
    return this.#upstream?.connection?.tls;
  }

  get localAddress(): Address | undefined {
    return this.#upstream?.connection?.localAddress;
  }

  newStream(client: PoolClient): void {
    this.#client = client;
    this.#upstream = new TcpUpstream(this.#cluster, this.#host, this);
    this.#upstream.start();
  }

  cancel(): void {
    this.#client = undefined;
    this.#upstream?.close();
    this.#upstream = undefined;
  }

  drain(): void {
    // It carries one exchange and belongs to it.
  }

  close(): void {
    this.cancel();
  }

  /** Nothing of the request's head goes to the host. */
  encodeHeaders(_: HeaderMap, endStream: boolean): undefined {
    const answer = new HeaderMap();
    answer.status = 200;
    this.#client?.decodeHeaders(answer, false);
    if (endStream) this.#upstream?.endWriting();
    return undefined;
  }

  encodeData(data: Buffer, endStream: boolean): void {
    this.wireBytesSent += data.length;
    if (data.length > 0) this.#upstream?.writeData(data);
    if (endStream) this.#upstream?.endWriting();
  }

  encodeTrailers(): void {
    this.#upstream?.endWriting();
  }

  resetStream(): void {
    this.cancel();
  }

  pauseResponse(paused: boolean): void {
    this.#upstream?.pauseReading(paused);
  }

  onUpstreamReady(): void {
    this.#client?.onPoolReady(this, this);
  }

  onUpstreamData(input: Buffer, start: number, end: number): void {
    this.wireBytesReceived += end - start;
    this.#client?.decodeData(input.subarray(start, end), false);
  }

  onUpstreamHalfClose(): void {
    const client = this.#client;
    this.cancel();
    client?.decodeData(EMPTY, true);
  }

  onUpstreamWriteBlocked(blocked: boolean): void {
    this.#client?.onWriteBlocked(blocked);
  }

  onUpstreamEnd(end: UpstreamEnd): void {
    const client = this.#client;
    this.#client = undefined;
    this.#upstream = undefined;
    if (end.kind === 'refused') client?.onPoolFailure('overflow', '', false);
    else if (end.kind === 'connect_failed') {
      const reason = end.isTimeout ? 'connection_timeout' : 'connection_failure';
      client?.onPoolFailure(reason, end.detail, true);
    } else if (end.kind === 'finished') client?.decodeData(EMPTY, true);
    else client?.onReset('connection_termination');
  }
}
