/**
 * One client's datagrams to one host, and the host's answers: over a socket of its own, which hears
 * that host alone, until nothing has passed for the idle time.
 */
import { dictionary } from '../../shared/text/dictionary.ts';
import type { AccessLog } from '../access-log/types.ts';
import { LoopTimer, type TimerList, type TimerOwner } from '../loop/timers.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { localSocketOf } from '../upstream-transport/upstream-transport.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import { type DatagramHandler, DatagramSocket } from './datagram-socket.ts';
import { Traffic, type UdpStats } from './udp-stats.ts';

const METADATA = 'udp.proxy.session';
const IDLE = 0;
const LOG = 1;

export interface SessionParts {
  readonly loop: WorkerLoop;
  readonly stats: UdpStats;
  readonly idle: TimerList;
  readonly logInterval: TimerList | undefined;
  readonly maxAnswerBytes: number;
  readonly accessLogs: readonly AccessLog[];
  ended(session: UdpSession): void;
}

export interface Client {
  readonly ip: string;
  readonly port: number;
  /** Whose socket it sends to. */
  readonly door: DatagramSocket;
}

/** `key` tells it from the proxy's other sessions. */
export interface SessionPlace {
  readonly key: string;
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
}

export class UdpSession implements DatagramHandler, TimerOwner {
  readonly key: string;
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  /** The version of the cluster's hosts, when this one was last seen among them. */
  seenVersion: number;
  readonly #client: Client;
  readonly #parts: SessionParts;
  readonly #info: StreamInfo;
  readonly #traffic = new Traffic();
  readonly #socket: DatagramSocket;
  readonly #idleTimer = new LoopTimer(this, IDLE);
  readonly #logTimer = new LoopTimer(this, LOG);
  #isOver = false;

  /** The host's connection has been counted. */
  constructor(
    { key, cluster, host }: SessionPlace,
    client: Client,
    info: StreamInfo,
    parts: SessionParts,
  ) {
    this.key = key;
    this.cluster = cluster;
    this.host = host;
    this.seenVersion = cluster.version;
    this.#client = client;
    this.#parts = parts;
    this.#info = info;
    info.upstreamHost = host;
    cluster.retained.hold();
    host.retained.hold();
    parts.stats.began();
    this.#socket = DatagramSocket.connect(
      host,
      localSocketOf(cluster.resource, host.ip)?.source,
      parts.loop,
      this,
    );
    parts.idle.arm(this.#idleTimer);
    parts.logInterval?.arm(this.#logTimer);
  }

  /** From the client. */
  forward(data: Buffer): void {
    const { stats, idle } = this.#parts;
    stats.received(this.#traffic, data.length);
    idle.arm(this.#idleTimer);
    stats.sentToHost(this.cluster, data.length);
    this.#socket.send(data);
  }

  /** From the host. */
  onDatagram(data: Buffer): void {
    const { stats, idle, maxAnswerBytes } = this.#parts;
    if (data.length > maxAnswerBytes) {
      this.#countOfCluster('sess_rx_datagrams_dropped');
      return;
    }
    idle.arm(this.#idleTimer);
    stats.receivedFromHost(this.cluster, data.length);
    stats.sent(this.#traffic, data.length);
    this.#client.door.send(data, this.#client);
  }

  onReceiveError(): void {
    this.#countOfCluster('sess_rx_errors');
  }

  onSendError(): void {
    this.#countOfCluster('sess_tx_errors');
  }

  onTimer(kind: number): void {
    if (kind === IDLE) return this.end(true);
    this.#log('UdpPeriodic');
    this.#parts.logInterval?.arm(this.#logTimer);
  }

  onException(): void {
    this.end(false);
  }

  end(isIdle: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#idleTimer.disarm();
    this.#logTimer.disarm();
    void this.#socket.close();
    const { parts, cluster, host } = { parts: this.#parts, cluster: this.cluster, host: this.host };
    host.closeConnection(cluster.limits.DEFAULT, 'DEFAULT');
    parts.stats.ended(isIdle);
    parts.ended(this);
    this.#info.endMs = parts.loop.clock.ms;
    this.#log('UdpSessionEnd');
    host.retained.letGo();
    cluster.retained.letGo();
  }

  #countOfCluster(counter: Parameters<UdpStats['ofCluster']>[2]): void {
    const { name, stats } = this.cluster;
    this.#parts.stats.ofCluster(name, stats.prefix, counter);
  }

  #log(type: StreamInfo['accessLogType']): void {
    const { accessLogs } = this.#parts;
    if (accessLogs.length === 0) return;
    const info = this.#info;
    const { bytesReceived, bytesSent, datagramsReceived, datagramsSent } = this.#traffic;
    info.accessLogType = type;
    info.bytesReceived = bytesReceived;
    info.bytesSent = bytesSent;
    info.dynamicMetadata ??= new Map();
    info.dynamicMetadata.set(
      METADATA,
      dictionary<unknown>([
        ['bytes_received', bytesReceived],
        ['bytes_sent', bytesSent],
        ['cluster_name', this.cluster.name],
        ['datagrams_received', datagramsReceived],
        ['datagrams_sent', datagramsSent],
        ['errors_sent', this.#traffic.errorsSent],
      ]),
    );
    for (const log of accessLogs) log.log(info);
  }
}
