/** Where `sluice-restarter status` asks the running restarter: an abstract socket per base id. */
import { connect, createServer, type Server } from 'node:net';

export interface RestarterStatus {
  readonly pid: number;
  readonly epochs: readonly {
    readonly number: number;
    readonly pid: number;
    readonly state: string;
  }[];
  readonly lastEvent: string;
}

const CONNECTIONS_MAX = 16;
const ANSWER_LIMIT_MS = 5_000;

/**
 * Answers each connection with one JSON document. Rejects when another restarter has the base id.
 */
export function serveStatus(baseId: number, status: () => RestarterStatus): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    // Any local user may connect: nobody keeps a connection, and nobody has many.
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy());
    socket.resume();
    socket.end(`${JSON.stringify(status(), null, 1)}\n`);
  });
  server.maxConnections = CONNECTIONS_MAX;
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const isTaken = 'code' in cause && cause.code === 'EADDRINUSE';
      const why = isTaken ? 'another sluice-restarter runs with it' : cause.message;
      reject(new Error(`cannot use base id ${baseId}: ${why}`));
    });
    server.listen(controlPath(baseId), () => {
      // Such as no descriptor for a connection: the next one may get an answer again.
      server.on('error', () => undefined);
      resolve(server);
    });
  });
}

/** The running restarter's answer; rejects when there is none. */
export function askStatus(baseId: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(controlPath(baseId));
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy(new Error('no answer within 5 s')));
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.once('error', (cause) => {
      reject(new Error(`no sluice-restarter runs with base id ${baseId}: ${cause.message}`));
    });
    socket.once('end', () => resolve(text));
  });
}

function controlPath(baseId: number): string {
  return `\0sluice_restarter_${baseId}`;
}
