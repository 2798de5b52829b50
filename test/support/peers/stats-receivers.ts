/** Receivers of statistics for tests: a metrics service, and sockets that collect lines. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { closeDescriptor } from '../../../shared/posix/descriptors.ts';
import { receiveDescriptorMessage } from '../../../shared/posix/descriptor-messages.ts';
import { SOCK_DGRAM } from '../../../shared/posix/layout.ts';
import { bindSocket, openSocket } from '../../../shared/posix/sockets.ts';
import { startReceivingService, type ReceivingService } from './services/receiving-service.ts';

const SERVICE = 'envoy.service.metrics.v3';

export interface Metric {
  readonly label?: readonly { readonly name: string; readonly value: string }[];
  readonly counter?: { readonly value?: number };
  readonly gauge?: { readonly value?: number };
  readonly summary?: { readonly sample_count?: string };
  readonly histogram?: { readonly sample_count?: string; readonly bucket?: readonly object[] };
}

export interface MetricsMessage {
  readonly identifier?: { readonly node: { readonly id: string } };
  readonly envoy_metrics?: readonly {
    readonly name: string;
    readonly type?: string;
    readonly metric: readonly Metric[];
  }[];
}

export function startMetricsService(): Promise<ReceivingService<MetricsMessage>> {
  return startReceivingService({
    path: `/${SERVICE}.MetricsService/StreamMetrics`,
    message: `${SERVICE}.StreamMetricsMessage`,
  });
}

export interface LineReceiver {
  readonly port: number;
  /** One per datagram, or per piece of a stream. */
  received(): readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

export async function receiveDatagrams(): Promise<LineReceiver> {
  const socket = createSocket('udp4');
  const received: string[] = [];
  socket.on('message', (message) => received.push(message.toString()));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    received: () => received,
    [Symbol.asyncDispose]: () => {
      socket.close();
      return Promise.resolve();
    },
  };
}

export async function receiveStream(): Promise<LineReceiver> {
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.on('data', (piece) => received.push(piece.toString()));
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received: () => received,
    [Symbol.asyncDispose]: () => {
      server.close();
      return Promise.resolve();
    },
  };
}

/** A datagram socket in the file system, read when it is asked for. */
export function receiveUnixDatagrams(path: string): {
  received(): readonly string[];
  [Symbol.dispose](): void;
} {
  const address = { kind: 'pipe', path } as const;
  const fd = openSocket(address, SOCK_DGRAM);
  bindSocket(fd, address);
  const received: string[] = [];
  return {
    received: () => {
      for (;;) {
        const message = receiveDescriptorMessage(fd);
        if (message === undefined) return received;
        received.push(message.data.toString());
      }
    },
    [Symbol.dispose]: () => closeDescriptor(fd),
  };
}
