/** Every kind of byte stream between two ends in one process, and what its owner hears. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeldBytes } from '../../../../workers/loop/held-bytes.ts';
import { type ByteStream, type ByteStreamOwner } from '../../../../workers/net/byte-stream.ts';
import { HandleStream, type ConnectTo } from '../../../../workers/net/handle-stream.ts';
import { runtimeHandles, type RuntimeHandles } from '../../../../workers/net/runtime-handles.ts';
import { SocketStream } from '../../../../workers/net/socket-stream.ts';
import { TlsStream } from '../../../../workers/net/tls/tls-stream.ts';
import { makeAuthority } from '../../../support/parts/certificates.ts';

export const LIMIT_BYTES = 64 * 1024;

/** The bytes of all streams here; sockets of node:net are not counted. */
export const held = new HeldBytes();

/** What a stream said, in order; `until` waits for a word. */
export class Listener implements ByteStreamOwner {
  readonly said: string[] = [];
  received = '';
  error: NodeJS.ErrnoException | undefined;
  readonly #waiting = new Map<string, () => void>();

  onStreamConnect(): void {
    this.#say('connect');
  }

  onStreamData(length: number, input: Buffer): void {
    this.received += input.toString('latin1', 0, length);
    this.#say('data');
  }

  onStreamDrain(): void {
    this.#say('drain');
  }

  onStreamEnd(): void {
    this.#say('end');
  }

  onStreamClose(error: NodeJS.ErrnoException | undefined): void {
    this.error ??= error;
    this.#say('close');
  }

  onStreamException(error: unknown): void {
    throw error;
  }

  async until(word: string): Promise<void> {
    if (this.said.includes(word)) return;
    await new Promise<void>((resolve) => this.#waiting.set(word, resolve));
  }

  #say(word: string): void {
    this.said.push(word);
    this.#waiting.get(word)?.();
  }
}

export interface Kind {
  readonly kind: string;
  readonly isTls: boolean;
  readonly isCounted: boolean;
  readonly connect: (target: ConnectTo, owner: ByteStreamOwner) => ByteStream;
}

export const certificates = mkdtempSync(join(tmpdir(), 'sluice-test-'));

const authority = makeAuthority(certificates);

export const kinds: readonly Kind[] = [
  {
    kind: 'on a handle',
    isTls: false,
    isCounted: true,
    connect: (target, owner) =>
      HandleStream.connect(target, undefined, {
        handles: handles(),
        readBuffer: Buffer.alloc(LIMIT_BYTES),
        limitBytes: LIMIT_BYTES,
        held,
        owner,
      }),
  },
  {
    kind: 'on a socket',
    isTls: false,
    isCounted: false,
    connect: (target, owner) => new SocketStream(net.connect(target), owner),
  },
  {
    kind: 'on the handle of a TLS socket',
    isTls: true,
    isCounted: true,
    connect: (target, owner) => {
      const options = { handles: handles(), readBuffer: Buffer.alloc(LIMIT_BYTES), held, owner };
      return new TlsStream(
        tls.connect({ ...target, ca: authority.cert, checkServerIdentity: () => undefined }),
        options,
      );
    },
  },
  {
    kind: 'on a TLS socket',
    isTls: true,
    isCounted: false,
    connect: (target, owner) =>
      new SocketStream(
        tls.connect({ ...target, ca: authority.cert, checkServerIdentity: () => undefined }),
        owner,
      ),
  },
];

function handles(): RuntimeHandles {
  assert.ok(runtimeHandles !== undefined, 'this runtime has no handles');
  return runtimeHandles;
}

export interface Serving extends AsyncDisposable {
  readonly target: ConnectTo;
  readonly port: number;
  readonly firstAccepted: Promise<net.Socket>;
}

export async function serve(
  isTls: boolean,
  onSocket: (socket: net.Socket) => void,
  path?: string,
): Promise<Serving> {
  const accepted: net.Socket[] = [];
  let sayFirst: (socket: net.Socket) => void = () => undefined;
  const firstAccepted = new Promise<net.Socket>((resolve) => {
    sayFirst = resolve;
  });
  const onConnection = (socket: net.Socket): void => {
    accepted.push(socket);
    socket.on('error', () => undefined);
    sayFirst(socket);
    onSocket(socket);
  };
  const allowHalfOpen = path === undefined;
  // No tickets after the handshake: what is unread when a client closes turns its end into a reset.
  const secured = { cert: authority.cert, key: authority.key, maxVersion: 'TLSv1.2' } as const;
  const server = isTls
    ? tls.createServer({ allowHalfOpen, ...secured }, onConnection)
    : net.createServer({ allowHalfOpen }, onConnection);
  server.listen(path === undefined ? { host: '127.0.0.1', port: 0 } : { path });
  await once(server, 'listening');
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return {
    target: path === undefined ? { host: '127.0.0.1', port } : { path },
    port,
    firstAccepted,
    [Symbol.asyncDispose]: async () => {
      for (const socket of accepted) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}
