/**
 * Channel credentials that hand each connection to our own TLS, so that a cluster's checks hold.
 */
import type * as grpcModule from '@grpc/grpc-js';
import type { CallCredentials, ChannelCredentials } from '@grpc/grpc-js';
import type { Secure } from './control-plane-tls.ts';

export type Grpc = typeof grpcModule;
type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>;

export function secureCredentials(grpc: Grpc, secure: Secure): ChannelCredentials {
  class ClusterCredentials extends grpc.ChannelCredentials {
    _isSecure(): boolean {
      return true;
    }

    _equals(other: ChannelCredentials): boolean {
      return other === this;
    }

    _createSecureConnector(
      _target: unknown,
      _options: unknown,
      calls: CallCredentials = grpc.credentials.createEmpty(),
    ): Connector {
      return {
        connect: async (socket) => ({ socket: await secure(socket), secure: true }),
        waitForReady: () => Promise.resolve(),
        getCallCredentials: () => calls,
        destroy: () => undefined,
      };
    }
  }
  return new ClusterCredentials();
}
