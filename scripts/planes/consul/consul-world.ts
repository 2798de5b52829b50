/** The hosts behind the services that Consul knows, and the ports of their data planes. */
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { freePort } from '../../../test/support/free-port.ts';
import { makeSigner, type Signer } from '../../../test/support/parts/tokens.ts';
import {
  answerCall,
  type GrpcPeer,
  startGrpcPeer,
} from '../../../test/support/peers/services/grpc-peer.ts';
import { type HttpUpstream, startHttpUpstream } from '../../../test/support/peers/upstream.ts';

/** Each is a port of loopback. `apiAt` and those like it are where `web` reaches its services. */
const PORTS = [
  'apiOne',
  'apiTwo',
  'greeter',
  'db',
  'web',
  'apiAt',
  'greeterAt',
  'dbAt',
  'ledgerAt',
  'outsideAt',
  'ingress',
  'ingressAt',
  'terminating',
  'mesh',
] as const;
export type PortName = (typeof PORTS)[number];

export interface ConsulWorld extends AsyncDisposable {
  /** The two versions of `api` answer their name. */
  readonly one: HttpUpstream;
  readonly two: HttpUpstream;
  /** A host that is no member of the mesh. */
  readonly outside: HttpUpstream;
  readonly echo: GrpcPeer;
  /** Sends back what comes, behind `db:`. */
  readonly dbPort: number;
  readonly signer: Signer;
  readonly ports: Readonly<Record<PortName, number>>;
}

export async function startConsulWorld(): Promise<ConsulWorld> {
  const one = await startHttpUpstream(answersOf('one'));
  const two = await startHttpUpstream(answersOf('two'));
  const outside = await startHttpUpstream((_, response) => response.end('outside'));
  const echo = await startGrpcPeer((call) => {
    call.stream.on('end', () => answerCall(call, call.body()));
  });
  const db = await startDb();
  const parts = [one, two, outside, echo];
  return {
    one,
    two,
    outside,
    echo,
    dbPort: (db.address() as AddressInfo).port,
    signer: makeSigner('ES256'),
    ports: await takePorts(),
    [Symbol.asyncDispose]: async () => {
      db.close();
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()));
    },
  };
}

/** By name, none twice: a free port may be given again. */
async function takePorts(): Promise<Readonly<Record<PortName, number>>> {
  const taken = new Set<number>();
  while (taken.size < PORTS.length) taken.add(await freePort());
  const all = [...taken];
  const entries = PORTS.map((name, index): [PortName, number] => [name, all[index] ?? 0]);
  return Object.fromEntries(entries) as Record<PortName, number>;
}

/** `/flaky/NAME` fails once for each name; `/slow` is never answered. */
function answersOf(name: string): (request: IncomingMessage, response: ServerResponse) => void {
  const failed = new Set<string>();
  return ({ url = '' }, response) => {
    if (url.startsWith('/slow')) return;
    if (url.startsWith('/flaky') && !failed.has(url)) {
      failed.add(url);
      response.statusCode = 503;
    }
    response.setHeader('x-path', url).end(name);
  };
}

async function startDb(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => socket.write(`db:${chunk.toString()}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
