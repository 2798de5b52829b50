/**
 * Opens the transport of a connection for the chain that serves it: over what the runtime accepted,
 * or over a socket whose first bytes were looked at, with TLS where the chain has it.
 */
import type net from 'node:net';
import { originalDestination } from '../../shared/posix/original-destination.ts';
import { socketAddress } from '../net/addresses.ts';
import type { Address } from '../net/connection-info.ts';
import { carrierOfHandle, carrierOfSocket } from '../net/tls/tls-carrier.ts';
import { socketOfHandle } from '../net/socket-stream.ts';
import type { TransportHandler } from '../net/byte-stream.ts';
import { Transport } from '../net/transport.ts';
import type { Watch } from '../net/transport-watcher.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { Accepted } from './acceptor.ts';
import type { CompiledChain } from './chain-selector.ts';
import type { ChainServer, OpenedConnection } from '../stream/chain-server.ts';
import { ConnectionFacts, type ListenerInfo } from '../stream/connection-facts.ts';

/** Whom a transport is opened for. */
export interface TransportUse {
  readonly loop: WorkerLoop;
  readonly handler: TransportHandler;
  readonly server: ChainServer;
  readonly tls: CompiledChain['tls'];
  readonly watch: Watch | undefined;
}

/** A connection of which nothing was read yet. */
export function openAccepted(
  accepted: Accepted,
  facts: ListenerInfo,
  { loop, handler, server, tls, watch }: TransportUse,
): OpenedConnection {
  const { bufferLimitBytes, counters } = server;
  const parts = { loop, handler, counters, watch };
  if (tls !== undefined) {
    const carrier =
      accepted.kind === 'handle'
        ? carrierOfHandle(accepted.handle)
        : carrierOfSocket(accepted.socket);
    const info = new ConnectionFacts(carrier.addresses, facts);
    return { transport: tls.secure(carrier, info, parts, bufferLimitBytes), info };
  }
  const transport =
    accepted.kind === 'handle'
      ? Transport.accepted(parts, accepted.handle, bufferLimitBytes)
      : Transport.adopt(parts, accepted.socket);
  return { transport, info: new ConnectionFacts(transport.addresses, facts) };
}

/** A connection that its listener looked at before it chose the chain. */
export function openSocket(
  socket: net.Socket,
  info: ConnectionFacts,
  { loop, handler, server, tls, watch }: TransportUse,
): OpenedConnection {
  const parts = { loop, handler, counters: server.counters, watch: watch && watchAs(watch, info) };
  if (tls !== undefined) {
    const transport = tls.secure(carrierOfSocket(socket), info, parts, server.bufferLimitBytes);
    return { transport, info };
  }
  const transport = Transport.adopt(parts, socket);
  // A listener filter stopped the stream where it had read enough.
  socket.resume();
  return { transport, info };
}

/** Shows a watcher the addresses that listener filters found. */
function watchAs(watch: Watch, { localAddress, remoteAddress }: ConnectionFacts): Watch {
  return (socket) =>
    watch({
      localAddress: localAddress.kind === 'ip' ? localAddress.ip : socket.localAddress,
      localPort: localAddress.port,
      remoteAddress: remoteAddress.kind === 'ip' ? remoteAddress.ip : socket.remoteAddress,
      remotePort: remoteAddress.port,
    });
}

export function socketOf(accepted: Accepted): net.Socket {
  return accepted.kind === 'socket' ? accepted.socket : socketOfHandle(accepted.handle);
}

/** Where the client meant to go; undefined for a connection that nobody redirected. */
export function originalAddress(socket: net.Socket): Address | undefined {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly fd?: number } };
  const { fd = -1 } = handle ?? {};
  const found =
    fd < 0 ? undefined : originalDestination(fd, socket.remoteFamily === 'IPv6' ? 'v6' : 'v4');
  if (found?.kind !== 'ip') return undefined;
  return socketAddress(found.address, found.port);
}
