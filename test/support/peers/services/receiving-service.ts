/** A gRPC service for tests that takes a stream of messages and answers when it ends. */
import { Server, ServerCredentials, type ServerReadableStream } from '@grpc/grpc-js';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { decodeMessage } from '../../../../supervisor/config/convert/message-decoder.ts';

export interface ReceivingService<Message> {
  readonly port: number;
  readonly messages: readonly Message[];
  /** Streams that the client has ended itself. */
  ended(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ServiceMethod {
  /** The path of the calls. */
  readonly path: string;
  /** The type of what is received. */
  readonly message: string;
}

/** `Message` is the received type in canonical JSON form. */
export async function startReceivingService<Message>({
  path,
  message,
}: ServiceMethod): Promise<ReceivingService<Message>> {
  const catalog = new ApiCatalog();
  const messages: Message[] = [];
  const server = new Server();
  let ended = 0;
  const serve = (
    stream: ServerReadableStream<Buffer, Buffer>,
    answer: (error: null, value: Buffer) => void,
  ): void => {
    stream.on('error', () => undefined);
    stream.on('data', (bytes: Buffer) => {
      // What Envoy sends breaks rules of the API here and there.
      const options = { catalog, onUnknownField: () => undefined };
      messages.push(decodeMessage(options, catalog.message(message), bytes) as Message);
    });
    stream.on('end', () => {
      ended++;
      answer(null, Buffer.alloc(0));
    });
  };
  const bytes = (value: Buffer): Buffer => value;
  const method = {
    path,
    requestStream: true,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
  server.addService({ receive: method }, { receive: serve });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    messages,
    ended: () => ended,
    [Symbol.asyncDispose]: () => {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}
