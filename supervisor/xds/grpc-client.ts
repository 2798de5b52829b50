/** One bidirectional stream to a control plane over gRPC. The transport is loaded when it is first used. */
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { HostAddress } from '../../shared/resources/cluster.ts';
import type { GrpcTarget } from '../resources/grpc-service.ts';

export interface GrpcStreamHandlers {
  received(message: Buffer): void;
  /** The stream has ended, for whatever reason; nothing comes any more. */
  ended(reason: string): void;
}

export interface GrpcStream {
  send(message: Uint8Array): void;
  close(): void;
}

/** An answer larger than this ends the stream. */
const MESSAGE_LIMIT_BYTES = 256 * 1024 * 1024;
const KEEPALIVE_MS = 30_000;

/** Rejects when there is nobody to connect to. `pick` gives a host of a cluster. */
export async function openGrpcStream(
  target: GrpcTarget,
  method: string,
  handlers: GrpcStreamHandlers,
  pick: (cluster: string) => HostAddress | undefined,
): Promise<GrpcStream> {
  const grpc = await import('@grpc/grpc-js');
  const tls = target.kind === 'uri' ? target.tls : undefined;
  const credentials =
    tls === undefined
      ? grpc.credentials.createInsecure()
      : grpc.credentials.createSsl(tls.roots ?? null, tls.key ?? null, tls.chain ?? null);
  const limit = target.kind === 'cluster' ? target.maxMessageBytes : undefined;
  const client = new grpc.Client(addressOf(target, pick), credentials, {
    'grpc.max_receive_message_length': limit ?? MESSAGE_LIMIT_BYTES,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.enable_retries': 0,
    // Each stream has a connection of its own, so that the next try may go to another host.
    'grpc.use_local_subchannel_pool': 1,
    ...(target.kind === 'cluster' ? { 'grpc.default_authority': target.authority } : {}),
  });
  const metadata = new grpc.Metadata();
  for (const { key, value } of target.metadata) metadata.add(key, value);
  const bytes = (message: Buffer): Buffer => message;
  const stream: ClientDuplexStream<Buffer, Buffer> = client.makeBidiStreamRequest(
    method,
    bytes,
    bytes,
    metadata,
  );
  let hasEnded = false;
  const end = (reason: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    client.close();
    handlers.ended(reason);
  };
  stream.on('data', (message: Buffer) => {
    if (!hasEnded) handlers.received(message);
  });
  stream.on('error', (error) => end(error.message));
  stream.on('end', () => end('the control plane closed the stream'));
  return {
    send: (message) => {
      if (!hasEnded) stream.write(Buffer.from(message));
    },
    close: () => {
      hasEnded = true;
      stream.cancel();
      client.close();
    },
  };
}

function addressOf(target: GrpcTarget, pick: (cluster: string) => HostAddress | undefined): string {
  if (target.kind === 'uri') return target.uri;
  const host = pick(target.cluster);
  if (host === undefined) throw new Error(`${target.cluster} has no host`);
  if (host.kind === 'pipe') return `unix:${host.path}`;
  return host.address.includes(':')
    ? `ipv6:[${host.address}]:${host.port}`
    : `ipv4:${host.address}:${host.port}`;
}
