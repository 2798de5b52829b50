/** A short load: connections that stay open, each of which asks a few times and stops. */
import { connect, type Socket } from 'node:net';

const CONNECTIONS = 32;
const REQUESTS_EACH = 16;
const REQUEST = 'GET / HTTP/1.1\r\nhost: bench\r\nuser-agent: burst\r\n\r\n';
/** The end of each answer. */
const LAST = 'Hello, world\n';

export class Burst {
  readonly #sockets: readonly Socket[];

  constructor(port: number) {
    this.#sockets = Array.from({ length: CONNECTIONS }, () => {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1').setNoDelay();
      return socket.on('error', () => undefined);
    });
  }

  /** Gives how many requests were answered. */
  async run(): Promise<number> {
    await Promise.all(this.#sockets.map(askAll));
    return CONNECTIONS * REQUESTS_EACH;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function askAll(socket: Socket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let left = REQUESTS_EACH;
    const closed = (): void => reject(new Error('a connection was closed'));
    const take = (text: string): void => {
      if (!text.endsWith(LAST)) return;
      left -= 1;
      if (left > 0) return void socket.write(REQUEST);
      socket.off('data', take).off('close', closed);
      resolve();
    };
    socket.on('data', take).on('close', closed).write(REQUEST);
  });
}
