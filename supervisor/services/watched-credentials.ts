/**
 * Channel credentials that tell of each connection, and begin none for a client that was closed.
 */
import type { Socket } from 'node:net';
import type { CallCredentials, ChannelCredentials } from '@grpc/grpc-js';
import type { Grpc } from './secure-credentials.ts';

type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>;
type Target = Parameters<ChannelCredentials['_createSecureConnector']>[0];
type Options = Parameters<ChannelCredentials['_createSecureConnector']>[1];

export interface ConnectionWatcher {
  /** Either `connected` or nothing follows. */
  connecting(): void;
  /** It stands, its handshake is done. */
  connected(socket: Socket): void;
}

export function watchedCredentials(
  grpc: Grpc,
  inner: ChannelCredentials,
  watcher: ConnectionWatcher,
): ChannelCredentials {
  class WatchedCredentials extends grpc.ChannelCredentials {
    _isSecure(): boolean {
      return inner._isSecure();
    }

    _equals(other: ChannelCredentials): boolean {
      return other === this;
    }

    _createSecureConnector(target: Target, options: Options, calls?: CallCredentials): Connector {
      return watched(inner._createSecureConnector(target, options, calls), watcher);
    }
  }
  return new WatchedCredentials();
}

function watched(inner: Connector, watcher: ConnectionWatcher): Connector {
  let isReleased = false;
  // A client that is closed while it waits to try again would do so once more, and keep what it
  // gets.
  const check = (): void => {
    if (isReleased) throw new Error('nobody wants this connection any more');
  };
  return {
    waitForReady: async () => {
      check();
      await inner.waitForReady();
      watcher.connecting();
    },
    connect: async (socket) => {
      const result = await inner.connect(socket);
      watcher.connected(result.socket);
      check();
      return result;
    },
    getCallCredentials: () => inner.getCallCredentials(),
    destroy: () => {
      isReleased = true;
      inner.destroy();
    },
  };
}
