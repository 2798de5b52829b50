/** One client that asks one server one request after the other, and the host behind that server. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const REQUEST = 'GET / HTTP/1.1\r\nhost: bench\r\nuser-agent: first-request\r\naccept: */*\r\n\r\n';
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello';
/** The end of the answer as the client sees it. */
const ANSWER_END = '\r\n\r\nhello';

/** Answers everything with the same few bytes. */
export async function startFixedUpstream(): Promise<Server> {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        text = text.slice(end + 4);
        socket.write(ANSWER);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export async function connected(port: number, isTls: boolean): Promise<Socket> {
  const socket = isTls
    ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : connect(port, '127.0.0.1');
  await once(socket, isTls ? 'secureConnect' : 'connect');
  socket.setNoDelay(true);
  return socket;
}

/** One after the other; the time of each. */
export async function askMany(socket: Socket, count: number): Promise<number[]> {
  const times: number[] = [];
  let text = '';
  let began = performance.now();
  return await new Promise((resolve, reject) => {
    const answered = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (!text.endsWith(ANSWER_END)) return;
      const now = performance.now();
      times.push(now - began);
      text = '';
      if (times.length === count) {
        socket.off('data', answered);
        return resolve(times);
      }
      began = performance.now();
      socket.write(REQUEST);
    };
    socket.on('data', answered);
    socket.once('close', () => reject(new Error(`the connection was closed after ${text}`)));
    socket.write(REQUEST);
  });
}

/** By nearest rank: of a hundred times the last but one. */
export function p99(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
}
