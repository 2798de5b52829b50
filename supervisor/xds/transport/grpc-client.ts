/** One bidirectional stream to a control plane over gRPC. The transport is loaded when it is first used. */
import type { ChannelCredentials, ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import type { HostAddress } from '../../../shared/resources/cluster.ts';
import type { GrpcTarget } from '../../../shared/resources/grpc-target.ts';
import type { PickedHost } from './control-plane-clusters.ts';
import { secureCredentials, type Grpc } from './secure-credentials.ts';

export interface GrpcStreamHandlers {
  received(message: Buffer): void;
  /** The stream has ended, for whatever reason; nothing comes any more. `code` is that of its status. */
  ended(reason: string, code: number): void;
}

export interface GrpcStream {
  send(message: Uint8Array): void;
  /** Holds the control plane back: nothing is received until `resume`. */
  pause(): void;
  resume(): void;
  /** More waits to be sent than the transport likes to hold. */
  readonly isCongested: boolean;
  /** Says that nothing more comes; resolves when the other side has ended too, or the stream broke. */
  finish(): Promise<void>;
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
  pick: (cluster: string) => PickedHost | undefined,
): Promise<GrpcStream> {
  const grpc = await import('@grpc/grpc-js');
  const { address, credentials } = peerOf(grpc, target, pick);
  const limit = target.kind === 'cluster' ? target.maxMessageBytes : undefined;
  const client = new grpc.Client(address, credentials, {
    'grpc.max_receive_message_length': limit ?? MESSAGE_LIMIT_BYTES,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.enable_retries': 0,
    // Each stream has a connection of its own, so that the next try may go to another host.
    'grpc.use_local_subchannel_pool': 1,
    ...(target.kind === 'cluster' ? { 'grpc.default_authority': target.authority } : target.args),
  });
  const metadata = metadataOf(grpc, target);
  const bytes = (message: Buffer): Buffer => message;
  const stream: ClientDuplexStream<Buffer, Buffer> = client.makeBidiStreamRequest(
    method,
    bytes,
    bytes,
    metadata,
  );
  let hasEnded = false;
  const end = (reason: string, code: number): void => {
    if (hasEnded) return;
    hasEnded = true;
    client.close();
    handlers.ended(reason, code);
  };
  stream.on('data', (message: Buffer) => {
    if (!hasEnded) handlers.received(message);
  });
  stream.on('error', (error: Error & { readonly code?: number }) => {
    end(error.message, error.code ?? grpc.status.UNKNOWN);
  });
  stream.on('end', () => end('the control plane closed the stream', grpc.status.OK));
  return {
    send: (message) => {
      if (!hasEnded) stream.write(Buffer.from(message));
    },
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    get isCongested() {
      return stream.writableNeedDrain;
    },
    finish: async () => {
      if (hasEnded) return;
      await new Promise<void>((resolve) => {
        stream.once('close', resolve).once('end', resolve).once('error', resolve);
        stream.end();
      });
      client.close();
    },
    close: () => {
      hasEnded = true;
      stream.cancel();
      client.close();
    },
  };
}

interface Peer {
  readonly address: string;
  readonly credentials: ChannelCredentials;
}

function peerOf(
  grpc: Grpc,
  target: GrpcTarget,
  pick: (cluster: string) => PickedHost | undefined,
): Peer {
  if (target.kind === 'uri') {
    const { tls, uri } = target;
    if (tls === undefined) return { address: uri, credentials: grpc.credentials.createInsecure() };
    const { roots = null, key = null, chain = null } = tls;
    return { address: uri, credentials: grpc.credentials.createSsl(roots, key, chain) };
  }
  const host = pick(target.cluster);
  if (host === undefined) throw new Error(`${target.cluster} has no host`);
  const { address, secure, stats } = host;
  stats.connects('h2');
  const credentials =
    secure === undefined ? grpc.credentials.createInsecure() : secureCredentials(grpc, secure);
  return { address: targetOf(address), credentials };
}

const INSIDE_WORKERS =
  'a host of the control plane is an internal listener, which only workers reach';

function targetOf(address: HostAddress): string {
  if (address.kind === 'pipe') return `unix:${address.path}`;
  if (address.kind === 'internal') throw new Error(INSIDE_WORKERS);
  return address.address.includes(':')
    ? `ipv6:[${address.address}]:${address.port}`
    : `ipv4:${address.address}:${address.port}`;
}

function metadataOf(grpc: Grpc, target: GrpcTarget): Metadata {
  const metadata = new grpc.Metadata();
  for (const { key, value } of target.metadata) {
    // The last of a name counts; the transport encodes what is binary. Both as in the reference.
    metadata.set(key, key.toLowerCase().endsWith('-bin') ? Buffer.from(value) : value);
  }
  return metadata;
}
