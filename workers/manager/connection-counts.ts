/** What is counted when a client's connection begins, speaks, and ends. */
import { HTTP_CONNECTION_MANAGER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { ProtocolTraits } from '../stream/protocol-traits.ts';
import type { ManagerStats } from './manager-stats.ts';

const index = HTTP_CONNECTION_MANAGER.index;
const CX_TOTAL = index.downstream_cx_total;
const CX_ACTIVE = index.downstream_cx_active;
const CX_SSL_TOTAL = index.downstream_cx_ssl_total;
const CX_SSL_ACTIVE = index.downstream_cx_ssl_active;
const CX_DESTROY = index.downstream_cx_destroy;
const CX_DESTROY_LOCAL = index.downstream_cx_destroy_local;
const CX_DESTROY_REMOTE = index.downstream_cx_destroy_remote;
const CX_DESTROY_ACTIVE = index.downstream_cx_destroy_active_rq;
const CX_DESTROY_LOCAL_ACTIVE = index.downstream_cx_destroy_local_active_rq;
const CX_DESTROY_REMOTE_ACTIVE = index.downstream_cx_destroy_remote_active_rq;
const CX_LENGTH_MS = index.downstream_cx_length_ms;
export const DOWNSTREAM_RX_BUFFERED = index.downstream_cx_rx_bytes_buffered;

export function noteOpen(stats: ManagerStats, info: ConnectionInfo): void {
  stats.count(CX_TOTAL);
  stats.raise(CX_ACTIVE);
  if (info.tls !== undefined) {
    stats.count(CX_SSL_TOTAL);
    stats.raise(CX_SSL_ACTIVE);
  }
  // Nothing waits yet, and the gauge counts as used from here on.
  stats.writer.add(stats.base + DOWNSTREAM_RX_BUFFERED, 0);
}

export function noteProtocol(stats: ManagerStats, traits: ProtocolTraits): void {
  stats.useProtocol(traits);
  stats.count(traits.connectionsTotal);
  stats.raise(traits.connectionsActive);
}

export interface EndedConnection {
  readonly info: ConnectionInfo;
  /** Undefined where its protocol never was known. */
  readonly traits: ProtocolTraits | undefined;
  readonly ageMs: number;
  /** A request was open. */
  readonly wasActive: boolean;
  readonly isEndingSafely: boolean;
}

export function noteEnd(
  stats: ManagerStats,
  how: 'local' | 'remote',
  { info, traits, ageMs, wasActive, isEndingSafely }: EndedConnection,
): void {
  stats.count(CX_DESTROY);
  stats.count(how === 'local' ? CX_DESTROY_LOCAL : CX_DESTROY_REMOTE);
  if (wasActive) {
    stats.count(CX_DESTROY_ACTIVE);
    stats.count(how === 'local' ? CX_DESTROY_LOCAL_ACTIVE : CX_DESTROY_REMOTE_ACTIVE);
  }
  stats.lower(CX_ACTIVE);
  if (info.tls !== undefined) stats.lower(CX_SSL_ACTIVE);
  if (traits !== undefined) stats.lower(traits.connectionsActive);
  if (isEndingSafely && traits?.softDrain !== undefined) stats.lower(traits.softDrain);
  stats.record(CX_LENGTH_MS, Math.round(ageMs));
}
