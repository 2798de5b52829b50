/** A service of grpc-js with one method of each kind, whose messages pass as bytes. */
import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';

const same = (bytes: Buffer): Buffer => bytes;

type Method = MethodDefinition<Buffer, Buffer>;

function method(name: string, requestStream: boolean, responseStream: boolean): Method {
  return {
    path: `/trial.Echo/${name}`,
    requestStream,
    responseStream,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

export const METHODS = {
  say: method('Say', false, false),
  download: method('Download', false, true),
  upload: method('Upload', true, false),
  chat: method('Chat', true, true),
  wait: method('Wait', false, false),
};

/** The same for programs that read it. */
export const PROTO = `syntax = "proto3"; package trial;
message Text { string text = 1; }
service Echo {
  rpc Say(Text) returns (Text);
  rpc Download(Text) returns (stream Text);
  rpc Upload(stream Text) returns (Text);
  rpc Chat(stream Text) returns (stream Text);
  rpc Wait(Text) returns (Text);
}
`;

export const DOWNLOADED = 10_000;

export interface Service {
  readonly port: number;
  /** Calls whose client went away or whose time was over, as the server was told. */
  cancelled(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `Wait` never answers; `Download` sends its request again and again. */
export async function startService(): Promise<Service> {
  const server = new Server();
  let cancelled = 0;
  const note = (call: { on(event: 'cancelled', done: () => void): unknown }): void =>
    void call.on('cancelled', () => cancelled++);
  server.addService(METHODS, {
    say: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) =>
      done(null, call.request),
    download: (call: ServerWritableStream<Buffer, Buffer>) => {
      note(call);
      sendMany(call, DOWNLOADED);
    },
    upload: (call: ServerReadableStream<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
      let last: Buffer = Buffer.alloc(0);
      call.on('data', (message: Buffer) => (last = message));
      call.on('end', () => done(null, last));
    },
    chat: (call: ServerDuplexStream<Buffer, Buffer>) => {
      note(call);
      call.on('data', (message: Buffer) => call.write(message));
      call.on('end', () => call.end());
    },
    wait: (call: ServerUnaryCall<Buffer, Buffer>) => note(call),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    cancelled: () => cancelled,
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  };
}

/** As fast as the stream takes them. */
function sendMany(call: ServerWritableStream<Buffer, Buffer>, left: number): void {
  for (; left > 0 && !call.cancelled; left--) {
    if (!call.write(call.request)) {
      call.once('drain', () => sendMany(call, left - 1));
      return;
    }
  }
  call.end();
}
