/** A connection manager as listeners know it: makes its connections and says where they count. */
import type { ChainServer } from '../stream/chain-server.ts';
import { DOWNSTREAM_RX_TOTAL, DOWNSTREAM_TX_TOTAL, HttpConnection } from './connection.ts';
import { DOWNSTREAM_RX_BUFFERED } from './connection-counts.ts';
import type { ConnectionManager } from './manager.ts';

export function serveHttp(manager: ConnectionManager): ChainServer {
  const { stats, bufferLimitBytes } = manager.parts;
  return {
    bufferLimitBytes,
    counters: {
      stats: stats.writer,
      received: stats.base + DOWNSTREAM_RX_TOTAL,
      waiting: stats.base + DOWNSTREAM_RX_BUFFERED,
      sent: stats.base + DOWNSTREAM_TX_TOTAL,
    },
    create: (observer, open) => new HttpConnection(manager, observer, open),
  };
}
