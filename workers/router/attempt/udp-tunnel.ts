/**
 * The way of one request whose capsules go to a host as datagrams: a CONNECT-UDP that is terminated
 * here. Stands where a pool would, for a single attempt: answers the request itself, and passes
 * datagrams until either side ends. Datagrams that the client does not take are dropped.
 */
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { RequestEncoder } from '../../stream/codec.ts';
import { HeaderMap } from '../../stream/header-map.ts';
import { CapsuleReader, datagramCapsule } from '../../udp/capsules.ts';
import { type DatagramHandler, DatagramSocket } from '../../udp/datagram-socket.ts';
import { localSocketOf } from '../../upstream-transport/upstream-transport.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type {
  PoolClient,
  StreamSource,
  UpstreamConnectionInfo,
} from '../../upstream/pools/http-pool.ts';

export class UdpTunnel
  implements StreamSource, RequestEncoder, UpstreamConnectionInfo, DatagramHandler
{
  readonly #cluster: UpstreamCluster;
  readonly #host: UpstreamHost;
  readonly #loop: WorkerLoop;
  readonly #reader = new CapsuleReader((payload) => this.#socket?.send(payload));
  #client: PoolClient | undefined = undefined;
  #socket: DatagramSocket | undefined = undefined;
  #pauses = 0;
  readonly id = 0;
  readonly openedMs: number;
  readonly connectedMs: number;
  readonly tls = undefined;
  readonly localAddress = undefined;
  readonly protocol = undefined;
  readonly requests = 1;
  readonly headerBytesSent = 0;
  readonly headerBytesReceived = 0;
  wireBytesSent = 0;
  wireBytesReceived = 0;

  constructor(cluster: UpstreamCluster, host: UpstreamHost, loop: WorkerLoop) {
    this.#cluster = cluster;
    this.#host = host;
    this.#loop = loop;
    this.openedMs = loop.clock.ms;
    this.connectedMs = loop.clock.ms;
  }

  newStream(client: PoolClient): void {
    this.#client = client;
    const from = localSocketOf(this.#cluster.resource, this.#host.ip)?.source;
    this.#socket = DatagramSocket.connect(this.#host, from, this.#loop, this);
    client.onPoolReady(this, this);
  }

  cancel(): void {
    this.#client = undefined;
    void this.#socket?.close();
    this.#socket = undefined;
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
    answer.add('capsule-protocol', '?1');
    this.#client?.decodeHeaders(answer, false);
    if (endStream) this.#endRequest();
    return undefined;
  }

  encodeData(data: Buffer, endStream: boolean): void {
    this.wireBytesSent += data.length;
    if (!this.#reader.read(data)) return this.#break();
    if (endStream) this.#endRequest();
  }

  encodeTrailers(): void {
    this.#endRequest();
  }

  resetStream(): void {
    this.cancel();
  }

  pauseResponse(paused: boolean): void {
    this.#pauses += paused ? 1 : -1;
  }

  onDatagram(data: Buffer): void {
    this.wireBytesReceived += data.length;
    if (this.#pauses === 0) this.#client?.decodeData(datagramCapsule(data), false);
  }

  onReceiveError(): void {
    // Datagrams may be lost: the next one may arrive.
  }

  onSendError(): void {
    // As above.
  }

  onException(): void {
    this.#break();
  }

  /** The host may still answer, but the client breaks the protocol that ends within a capsule. */
  #endRequest(): void {
    if (!this.#reader.isBetween) this.#break();
  }

  #break(): void {
    const client = this.#client;
    this.cancel();
    client?.onReset('protocol_error');
  }
}
