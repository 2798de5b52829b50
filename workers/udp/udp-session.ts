/**
 * One client's datagrams to one host, and the host's answers, until nothing has passed for the idle
 * time: over a socket of its own, which hears that host alone, or through a tunnel.
 */
import type { AccessLog } from '../access-log/types.ts';
import { LoopTimer, type TimerList, type TimerOwner } from '../loop/timers.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { localSocketOf } from '../upstream-transport/upstream-transport.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import { CapsuleReader, datagramCapsule } from './capsules.ts';
import { type DatagramHandler, DatagramSocket } from './datagram-socket.ts';
import { writeSessionLine } from './session-log.ts';
import type { TunnelRequests } from './tunnel-requests.ts';
import { type TunnelOwner, TunnelWay } from './tunnel-way.ts';
import { Traffic, type UdpStats } from './udp-stats.ts';

const IDLE = 0;
const LOG = 1;

export interface SessionParts {
  readonly loop: WorkerLoop;
  readonly stats: UdpStats;
  readonly idle: TimerList;
  readonly logInterval: TimerList | undefined;
  readonly maxAnswerBytes: number;
  readonly accessLogs: readonly AccessLog[];
  readonly usesCapsules: boolean;
  /** Undefined: hosts get datagrams. */
  readonly tunnels: TunnelRequests | undefined;
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
  /** The host of another attempt. */
  readonly chooseHost: () => UpstreamHost | undefined;
}

/** How datagrams reach the host. */
interface HostWay {
  send(data: Buffer): void;
  close(): unknown;
}

export class UdpSession implements DatagramHandler, TimerOwner, TunnelOwner {
  readonly key: string;
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  /** The version of the cluster's hosts, when this one was last seen among them. */
  seenVersion: number;
  readonly #client: Client;
  readonly #parts: SessionParts;
  readonly #info: StreamInfo;
  readonly #traffic = new Traffic();
  readonly #way: HostWay;
  readonly #tunnel: TunnelWay | undefined;
  readonly #capsules: CapsuleReader | undefined;
  readonly #idleTimer = new LoopTimer(this, IDLE);
  readonly #logTimer = new LoopTimer(this, LOG);
  #isOver = false;

  /** The host's connection has been counted, but that of a tunnel, which its pool counts. */
  constructor(place: SessionPlace, client: Client, info: StreamInfo, parts: SessionParts) {
    const { key, cluster, host } = place;
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
    parts.idle.arm(this.#idleTimer);
    parts.logInterval?.arm(this.#logTimer);
    this.#capsules = parts.usesCapsules
      ? new CapsuleReader((payload) => this.#answer(payload))
      : undefined;
    const { loop, tunnels } = parts;
    if (tunnels === undefined) {
      const from = localSocketOf(cluster.resource, host.ip)?.source;
      this.#way = DatagramSocket.connect(host, from, loop, this);
    } else {
      const { chooseHost } = place;
      const way = new TunnelWay({ loop, requests: tunnels, cluster, info, chooseHost }, host, this);
      this.#tunnel = way;
      this.#way = way;
    }
  }

  /** Asks for the tunnel, where there is one; may end the session before it returns. */
  start(): void {
    this.#tunnel?.start();
  }

  /** From the client. */
  forward(data: Buffer): void {
    if (this.#isOver) return;
    const { stats, idle } = this.#parts;
    stats.received(this.#traffic, data.length);
    idle.arm(this.#idleTimer);
    const sent = this.#capsules === undefined ? data : datagramCapsule(data);
    if (this.#tunnel === undefined) stats.sentToHost(this.cluster, sent.length);
    this.#way.send(sent);
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
    this.#takeFromHost(data);
  }

  onTunnelOpened(): void {
    this.#countOfCluster('sess_tunnel_success');
    if (this.#parts.tunnels?.tunnel.logOnConnected === true)
      this.#log('UdpTunnelUpstreamConnected');
  }

  onTunnelData(data: Buffer): void {
    this.#parts.idle.arm(this.#idleTimer);
    this.#countOfCluster('sess_rx_datagrams');
    this.#takeFromHost(data);
  }

  onTunnelOverflow(): void {
    this.#countOfCluster('sess_tunnel_buffer_overflow');
  }

  onTunnelEnd(isFailed: boolean): void {
    if (isFailed) {
      this.#countOfCluster('sess_tunnel_failure');
      this.#info.responseFlags |=
        ResponseFlag.upstreamConnectionFailure | ResponseFlag.upstreamRetryLimitExceeded;
    }
    this.end(false);
  }

  /** What is no capsule ends a tunnel: nothing behind it can be read. */
  #takeFromHost(data: Buffer): void {
    if (this.#capsules === undefined) this.#answer(data);
    else if (!this.#capsules.read(data) && this.#tunnel !== undefined) this.end(false);
  }

  #answer(data: Buffer): void {
    this.#parts.stats.sent(this.#traffic, data.length);
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
    void this.#way.close();
    const { parts, cluster, host } = { parts: this.#parts, cluster: this.cluster, host: this.host };
    if (this.#tunnel === undefined) host.closeConnection(cluster.limits.DEFAULT, 'DEFAULT');
    else if (isIdle) this.#info.responseFlags |= ResponseFlag.streamIdleTimeout;
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
    const line = {
      logs: this.#parts.accessLogs,
      info: this.#info,
      clusterName: this.cluster.name,
      traffic: this.#traffic,
    };
    writeSessionLine(line, type);
  }
}
