/** Peers that speak in datagrams: hosts that answer, and clients that ask. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

export interface DatagramHost extends AsyncDisposable {
  readonly port: number;
  /** What came, in order. */
  readonly heard: readonly string[];
}

/** Answers each datagram with what `answer` makes of it. */
export async function startDatagramHost(
  answer: (text: string, from: string) => string | Buffer,
  address = '127.0.0.1',
  port = 0,
): Promise<DatagramHost> {
  const socket = createSocket('udp4');
  const heard: string[] = [];
  socket.on('message', (data, { address: ip, port: from }) => {
    heard.push(String(data));
    socket.send(answer(String(data), ip), from, ip);
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    heard,
    [Symbol.asyncDispose]: async () => closed(socket),
  };
}

export interface DatagramClient extends AsyncDisposable {
  send(text: string | Buffer): void;
  /** Resolves with the next answer, as text. */
  ask(text: string | Buffer): Promise<string>;
  next(): Promise<string>;
}

export async function openDatagramClient(port: number): Promise<DatagramClient> {
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const next = async (): Promise<string> =>
    String(((await once(socket, 'message')) as [Buffer])[0]);
  return {
    send: (text) => socket.send(text),
    next,
    ask: async (text) => {
      const answer = next();
      socket.send(text);
      return await answer;
    },
    [Symbol.asyncDispose]: async () => closed(socket),
  };
}

/** A port that no socket of datagrams has. */
export async function freeDatagramPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await closed(socket);
  return port;
}

async function closed(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => socket.close(() => resolve()));
}
