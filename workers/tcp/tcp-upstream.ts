/**
 * One connection of a TCP proxy to a host, from the first packet to its end: connecting, open, closed.
 * Owns its transport and connect timer and keeps the cluster's and the host's account; what passes
 * through is the proxy's business.
 */
import { CLUSTER, HOST } from '../../shared/stats/templates/cluster.ts';
import { socketAddress } from '../net/addresses.ts';
import type { Address, TlsInfo } from '../net/connection-info.ts';
import { connectErrorText } from '../net/connect-errors.ts';
import type { Transport, TransportHandler } from '../net/transport.ts';
import { LoopTimer, type TimerOwner } from '../timers.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import { nextUpstreamConnectionId } from '../upstream/connection-ids.ts';
import type { HostConnection, UpstreamHost } from '../upstream/host.ts';
import { openUpstream } from '../upstream/upstream-transport.ts';
import type { ProxiedUpstream, UpstreamOwner } from './proxied-upstream.ts';

const index = CLUSTER.index;
const RX_TOTAL = index.upstream_cx_rx_bytes_total;
const RX_BUFFERED = index.upstream_cx_rx_bytes_buffered;
const TX_TOTAL = index.upstream_cx_tx_bytes_total;

const TIMER_CONNECT = 0;

/** What connecting came to, in the terms of outlier detection: a status, negative for our own. */
const REFUSED = -503;
const TIMED_OUT = -504;

export class TcpUpstream implements ProxiedUpstream, TransportHandler, TimerOwner, HostConnection {
  readonly id = nextUpstreamConnectionId();
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly transport: Transport;
  readonly tls: TlsInfo | undefined;
  readonly openedMs: number;
  connectedMs = -1;
  private readonly owner: UpstreamOwner;
  private readonly connectTimer = new LoopTimer(this, TIMER_CONNECT);
  private state: 'connecting' | 'open' | 'closed' = 'connecting';
  /** Which side's end came last: it is who closed the connection. */
  private lastEnd: 'local' | 'remote' = 'remote';

  /** The caller has asked whether the limits allow it. */
  constructor(cluster: UpstreamCluster, host: UpstreamHost, owner: UpstreamOwner) {
    const { loop, stats, resource } = cluster;
    this.cluster = cluster;
    this.host = host;
    this.owner = owner;
    this.openedMs = loop.clock.ms;
    cluster.retained.hold();
    host.retained.hold();
    host.connections.add(this);
    const { transport, tls } = openUpstream(cluster, { host, client: owner.downstreamInfo }, this, {
      stats: stats.writer,
      received: stats.base + RX_TOTAL,
      waiting: stats.base + RX_BUFFERED,
      sent: stats.base + TX_TOTAL,
    });
    transport.keepHalfOpen();
    this.transport = transport;
    this.tls = tls;
    this.countOpen();
    loop.timers.list(resource.connectTimeoutMs).arm(this.connectTimer);
  }

  get localAddress(): Address | undefined {
    const { addresses } = this.transport;
    return socketAddress(addresses.localAddress, addresses.localPort);
  }

  get pendingBytes(): number {
    return this.transport.pendingBytes;
  }

  writeData(data: Buffer): void {
    this.transport.writeData(data);
  }

  pauseReading(paused: boolean): void {
    this.transport.pauseReading(paused);
  }

  /** Sends what is left and then the end of this direction. */
  endWriting(): void {
    this.lastEnd = 'local';
    this.transport.endWriting();
  }

  /** Closes at once from this side. */
  close(): void {
    if (this.state === 'connecting') this.count(index.upstream_rq_cancelled);
    this.finish('local');
  }

  /** As `close`, with a reset: the client's connection broke. */
  reset(): void {
    this.transport.reset();
    this.close();
  }

  abandon(): void {
    if (this.state === 'closed') return;
    this.close();
    this.owner.onUpstreamEnd({ kind: 'broken', isReset: false });
  }

  onConnect(): void {
    const { cluster, host } = this;
    const { writer, base } = cluster.stats;
    this.connectTimer.disarm();
    this.connectedMs = cluster.loop.clock.ms;
    writer.record(
      base + index.upstream_cx_connect_ms,
      Math.round(this.connectedMs - this.openedMs),
    );
    this.leavePending();
    this.state = 'open';
    cluster.limits.DEFAULT.open('requests');
    this.count(index.upstream_rq_total);
    writer.add(base + index.upstream_rq_active, 1);
    host.requestBegan();
    host.outlier?.established();
    this.owner.onUpstreamReady();
  }

  onData(input: Buffer, start: number, end: number): void {
    this.owner.onUpstreamData(input, start, end);
  }

  onRemoteEnd(): void {
    this.lastEnd = 'remote';
    this.owner.onUpstreamHalfClose();
  }

  onRemoteClose(error: NodeJS.ErrnoException | undefined): void {
    if (this.state === 'connecting') {
      this.failConnect(
        'remote',
        error === undefined ? '' : connectErrorText(error, this.host.address),
      );
      return;
    }
    this.finish(error === undefined ? this.lastEnd : 'remote');
    this.owner.onUpstreamEnd(
      error === undefined
        ? { kind: 'finished' }
        : { kind: 'broken', isReset: error.code === 'ECONNRESET' },
    );
  }

  onWriteBlocked(blocked: boolean): void {
    this.owner.onUpstreamWriteBlocked(blocked);
  }

  onTimer(): void {
    this.count(index.upstream_cx_connect_timeout);
    this.failConnect('local', '', true);
  }

  private failConnect(how: 'local' | 'remote', detail: string, isTimeout = false): void {
    this.count(index.upstream_cx_connect_fail);
    this.count(index.upstream_rq_pending_failure_eject);
    this.cluster.stats.writer.increment(this.host.statBase + HOST.index.cx_connect_fail);
    this.host.outlier?.note(isTimeout ? TIMED_OUT : REFUSED);
    this.finish(how);
    this.owner.onUpstreamEnd({ kind: 'connect_failed', detail, isTimeout });
  }

  private finish(how: 'local' | 'remote'): void {
    if (this.state === 'closed') return;
    const { cluster, host } = this;
    const { writer, base } = cluster.stats;
    const wasOpen = this.state === 'open';
    if (!wasOpen) this.leavePending();
    this.state = 'closed';
    this.connectTimer.disarm();
    this.transport.close();
    this.count(index.upstream_cx_destroy);
    this.count(
      how === 'local' ? index.upstream_cx_destroy_local : index.upstream_cx_destroy_remote,
    );
    writer.subtract(base + index.upstream_cx_active, 1);
    writer.subtract(host.statBase + HOST.index.cx_active, 1);
    writer.record(
      base + index.upstream_cx_length_ms,
      Math.round(cluster.loop.clock.ms - this.openedMs),
    );
    host.closeConnection(cluster.limits.DEFAULT, 'DEFAULT');
    if (wasOpen) this.countCarried(how);
    host.connections.delete(this);
    cluster.retained.letGo();
    host.retained.letGo();
  }

  /** An open connection always carries something: the client's one. */
  private countCarried(how: 'local' | 'remote'): void {
    const { cluster, host } = this;
    const { writer, base } = cluster.stats;
    this.count(index.upstream_cx_destroy_with_active_rq);
    this.count(
      how === 'local'
        ? index.upstream_cx_destroy_local_with_active_rq
        : index.upstream_cx_destroy_remote_with_active_rq,
    );
    writer.subtract(base + index.upstream_rq_active, 1);
    host.requestEnded();
    cluster.limits.DEFAULT.close('requests');
  }

  private countOpen(): void {
    const { cluster, host } = this;
    const { writer, base } = cluster.stats;
    this.count(index.upstream_cx_total);
    this.count(index.upstream_rq_pending_total);
    writer.add(base + index.upstream_cx_active, 1);
    writer.add(base + index.upstream_rq_pending_active, 1);
    writer.increment(host.statBase + HOST.index.cx_total);
    writer.add(host.statBase + HOST.index.cx_active, 1);
    writer.add(host.statBase + HOST.index.rq_pending_active, 1);
  }

  private leavePending(): void {
    const { writer, base } = this.cluster.stats;
    writer.subtract(base + index.upstream_rq_pending_active, 1);
    writer.subtract(this.host.statBase + HOST.index.rq_pending_active, 1);
    this.cluster.limits.DEFAULT.close('pendingRequests');
  }

  private count(offset: number): void {
    const { writer, base } = this.cluster.stats;
    writer.increment(base + offset);
  }
}
