/** One bidirectional call to a control plane over gRPC, on a connection that others may share. */
import type { ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import type { PickedHost } from './control-plane-clusters.ts';
import type { GrpcConnections } from './grpc-connections.ts';
import type { OwnRequest } from './own-request-stats.ts';
import type { Grpc } from './secure-credentials.ts';

export interface GrpcStreamHandlers {
  received(message: Buffer): void;
  /**
   * The stream has ended, for whatever reason; nothing comes any more. `code` is that of its
   * status.
   */
  ended(reason: string, code: number): void;
}

export interface GrpcStream {
  send(message: Uint8Array): void;
  /** Holds the control plane back: nothing is received until `resume`. */
  pause(): void;
  resume(): void;
  /** More waits to be sent than the transport likes to hold. */
  readonly isCongested: boolean;
  /**
   * Says that nothing more comes; resolves when the other side has ended too, or the stream broke.
   */
  finish(): Promise<void>;
  close(): void;
}

/** Rejects when there is nobody to connect to. `pick` gives a host of a cluster. */
export async function openGrpcStream(
  connections: GrpcConnections,
  { target, method }: { readonly target: GrpcTarget; readonly method: string },
  handlers: GrpcStreamHandlers,
  pick: (cluster: string) => PickedHost | undefined,
): Promise<GrpcStream> {
  const lease = await connections.lease(target, pick);
  const { grpc, client } = lease;
  const bytes = (message: Buffer): Buffer => message;
  const stream: ClientDuplexStream<Buffer, Buffer> = client.makeBidiStreamRequest(
    method,
    bytes,
    bytes,
    metadataOf(grpc, target),
  );
  let hasEnded = false;
  let isAnswered = false;
  const over = (reason: string, code: number): boolean => {
    if (hasEnded) return false;
    hasEnded = true;
    const isLost = isLostBy(reason, code) || !lease.isAlive;
    countEnd(lease.request, { reason, code, isLost });
    lease.release(isLost);
    return true;
  };
  const end = (reason: string, code: number): void => {
    // An answer that breaks off is an error of its own in Envoy.
    const isBroken = isAnswered && (isLostBy(reason, code) || !lease.isAlive);
    if (over(reason, code)) handlers.ended(reason, isBroken ? grpc.status.INTERNAL : code);
  };
  stream.on('metadata', () => {
    isAnswered = true;
    lease.request?.answered(200);
  });
  stream.on('data', (message: Buffer) => {
    if (!hasEnded) handlers.received(message);
  });
  stream.on('error', (error: Error & { readonly code?: number; readonly details?: string }) => {
    end(error.details ?? error.message, error.code ?? grpc.status.UNKNOWN);
  });
  stream.on('end', () => end('', grpc.status.OK));
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
      over('', grpc.status.OK);
    },
    close: () => {
      over('', grpc.status.CANCELLED);
      stream.cancel();
    },
  };
}

const CANCELLED = 1;
const UNAVAILABLE = 14;
const HTTP_STATUS = /^Received HTTP status code (\d+)/;

interface CallEnd {
  readonly reason: string;
  readonly code: number;
  readonly isLost: boolean;
}

/** The transport's words for a connection that does not answer to pings. */
function isLostBy(reason: string, code: number): boolean {
  return code === UNAVAILABLE && reason === 'Connection dropped';
}

function countEnd(request: OwnRequest | undefined, { reason, code, isLost }: CallEnd): void {
  if (request === undefined) return;
  if (code === CANCELLED) return request.reset();
  if (isLost) return request.failed('connection');
  // An answer without a message has its status in its head.
  request.answered(Number(HTTP_STATUS.exec(reason)?.[1] ?? 200));
  request.reset();
}

function metadataOf(grpc: Grpc, target: GrpcTarget): Metadata {
  const metadata = new grpc.Metadata();
  for (const { key, value } of target.metadata) {
    // The last of a name counts; the transport encodes what is binary. Both as in Envoy.
    metadata.set(key, key.toLowerCase().endsWith('-bin') ? Buffer.from(value) : value);
  }
  return metadata;
}
