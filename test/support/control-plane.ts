/** A control plane for tests: one aggregated gRPC stream, state of the world, by hand. */
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { ApiCatalog } from '../../supervisor/config/api/api-catalog.ts';
import { messageFromBinary, messageToBinary } from '../../supervisor/config/message-codec.ts';

const PACKAGE = 'envoy.service.discovery.v3';

interface AskedFor {
  readonly type_url: string;
  readonly version_info?: string;
  readonly response_nonce?: string;
  readonly resource_names?: readonly string[];
  readonly error_detail?: { readonly message: string };
  readonly node?: { readonly id: string };
  /** What came with the call. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface ControlPlane {
  readonly port: number;
  readonly requests: AskedFor[];
  /** Sends the resources of one type now, and to every stream that asks for the type later. */
  set(kind: string, version: string, resources: readonly object[]): void;
  /** Ends every stream. */
  drop(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

type Stream = ServerDuplexStream<Buffer, Buffer>;

/** Without credentials it speaks plain text. */
export async function startControlPlane(
  credentials = ServerCredentials.createInsecure(),
): Promise<ControlPlane> {
  const catalog = new ApiCatalog();
  const server = new Server();
  const streams = new Set<Stream>();
  const requests: AskedFor[] = [];
  const answers = new Map<string, { version: string; resources: readonly object[] }>();
  let nonce = 0;
  const send = (stream: Stream, url: string): void => {
    const answer = answers.get(url);
    if (answer === undefined) return;
    nonce += 1;
    const message = {
      version_info: answer.version,
      resources: [...answer.resources],
      type_url: url,
      nonce: String(nonce),
    };
    stream.write(Buffer.from(messageToBinary(catalog, `${PACKAGE}.DiscoveryResponse`, message)));
  };
  const serve = (stream: Stream): void => {
    streams.add(stream);
    stream.on('error', () => streams.delete(stream));
    stream.on('end', () => stream.end());
    stream.on('data', (bytes: Buffer) => {
      const sink = { report: (): void => undefined };
      const options = { catalog, sink, unknownFields: 'ignore' } as const;
      const read: unknown = messageFromBinary(options, `${PACKAGE}.DiscoveryRequest`, bytes);
      const request = { ...(read as AskedFor), metadata: stream.metadata.getMap() };
      requests.push(request);
      if (request.response_nonce === undefined) send(stream, request.type_url);
    });
  };
  const bytes = (value: Buffer): Buffer => value;
  const path = `/${PACKAGE}.AggregatedDiscoveryService/StreamAggregatedResources`;
  const method = {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
  server.addService({ stream: method }, { stream: serve });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    requests,
    set: (kind, version, resources) => {
      const url = `type.googleapis.com/envoy.config.${kind}`;
      // Fields that are undefined are absent.
      const plain = JSON.parse(JSON.stringify(resources)) as object[];
      answers.set(url, { version, resources: plain });
      for (const stream of streams) send(stream, url);
    },
    drop: () => {
      for (const stream of streams) stream.end();
      streams.clear();
    },
    [Symbol.asyncDispose]: async () => {
      server.forceShutdown();
      await Promise.resolve();
    },
  };
}
