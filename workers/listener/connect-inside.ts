/** Connects a cluster to a listener of the same worker that has no socket. */
import type net from 'node:net';
import { printInternal } from '../../shared/resources/clusters/cluster.ts';
import { connectedPair } from '../net/internal-socket.ts';
import type { InternalTarget } from '../upstream-transport/upstream-transport.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { WorkerListener } from './worker-listener.ts';

/** The socket says `connect` once the listener has its end, or an error where there is none. */
export function connectInside(
  listener: WorkerListener | undefined,
  { listener: name, endpointId, metadata, shared }: InternalTarget,
  loop: WorkerLoop,
): net.Socket {
  const { client, server } = connectedPair(printInternal(name, endpointId));
  // As with a socket, the connecting side hears of it after the present event.
  queueMicrotask(() => {
    if (client.destroyed) {
      server.destroy();
    } else if (listener?.isInternal !== true) {
      client.destroy(Object.assign(new Error(`no listener ${name}`), { code: 'ECONNREFUSED' }));
      server.destroy();
    } else {
      loop.run({ onException: () => client.destroy() }, () => {
        listener.intake.acceptInside(server, { metadata, shared });
        client.emit('connect');
      });
    }
  });
  return client;
}
