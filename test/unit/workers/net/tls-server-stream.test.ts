import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { HeldBytes } from '../../../../workers/loop/held-bytes.ts';
import type { ByteStreamOwner } from '../../../../workers/net/byte-stream.ts';
import { runtimeHandles } from '../../../../workers/net/runtime-handles.ts';
import { type InnerContext, runtimeTls } from '../../../../workers/net/tls/runtime-tls.ts';
import { carrierOfSocket } from '../../../../workers/net/tls/tls-carrier.ts';
import {
  type ServerHandshake,
  TlsServerStream,
} from '../../../../workers/net/tls/tls-server-stream.ts';
import { inBytes } from '../../../support/in-bytes.ts';
import { makeAuthority } from '../../../support/parts/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
const authority = makeAuthority(folder);
const { cert, key } = authority.issue('server', 'DNS:s.test');
const context = tls.createSecureContext({ cert, key }).context as InnerContext;

/** One accepted connection, its stream and what was said of both. */
interface Served {
  readonly said: string[];
  readonly stream: TlsServerStream;
  readonly over: Promise<void>;
}

interface Wishes {
  /** Refuses every client. */
  readonly refusal?: Error;
  /** Reads that many bytes first and puts them back. */
  readonly peek?: boolean;
  readonly onData?: (stream: TlsServerStream, text: string) => void;
}

describe('the server side of TLS on the handles of the runtime', () => {
  const servers: net.Server[] = [];
  after(() => {
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function listen(wishes: Wishes): Promise<{ port: number; next: Promise<Served> }> {
    const server = net.createServer();
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const next = once(server, 'connection').then(async ([accepted]) => {
      const socket = accepted as net.Socket;
      if (wishes.peek === true) {
        const [piece] = (await once(socket, 'data')) as [Buffer];
        socket.pause();
        socket.unshift(piece);
      }
      return serve(socket, wishes);
    });
    return { port: (server.address() as net.AddressInfo).port, next };
  }

  it('shakes hands with a client whose message comes in pieces, and passes bytes both ways', async () => {
    for (const peek of [false, true]) {
      const onData = (stream: TlsServerStream, text: string): void => {
        stream.writeText(`got ${text}`);
        stream.closeAfterWrites();
      };
      const { port, next } = await listen({ peek, onData });
      const socket = net.connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.setNoDelay(true);
      const client = tls.connect({ socket: inBytes(socket), rejectUnauthorized: false });
      client.write('hello');
      let text = '';
      client.on('data', (piece: Buffer) => (text += piece.toString()));
      const served = await next;
      await once(client, 'end');
      assert.equal(text, 'got hello');
      client.destroy();
      socket.destroy();
      await served.over;
      assert.deepEqual(served.said, ['secure', 'data', 'ended', 'close']);
    }
  });

  it('says once that a client left in the middle of its handshake', async () => {
    const { port, next } = await listen({});
    const socket = net.connect(port, '127.0.0.1');
    socket.end(Buffer.from('160301010001', 'hex'));
    const served = await next;
    await served.over;
    assert.deepEqual(served.said, ['ended', 'close']);
    served.stream.close();
  });

  it('tells what the protocol refuses, and that it ended', async () => {
    const { port, next } = await listen({});
    const socket = net.connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\n\r\n'));
    socket.on('error', () => undefined);
    const served = await next;
    await served.over;
    assert.deepEqual(served.said, ['failed ERR_SSL_HTTP_REQUEST', 'ended', 'close']);
    socket.destroy();
  });

  it('closes on a client that is refused when the handshake is done', async () => {
    const { port, next } = await listen({ refusal: new Error('no') });
    const client = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    client.on('error', () => undefined);
    const served = await next;
    await Promise.all([served.over, once(client, 'close')]);
    assert.deepEqual(served.said, ['secure', 'ended', 'close no']);
    let isGivenBack = false;
    assert.equal(
      served.stream.writeBlock(Buffer.alloc(1), () => (isGivenBack = true)),
      true,
    );
    assert.equal(isGivenBack, true);
  });

  it('gives blocks back that were not sent when it is closed', async () => {
    let given = 0;
    const onData = (stream: TlsServerStream): void => {
      for (let count = 0; count < 3; count += 1) {
        stream.writeBlock(Buffer.alloc(8 * 1024 * 1024), () => (given += 1));
      }
      stream.close();
    };
    const { port, next } = await listen({ onData });
    const client = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    client.on('error', () => undefined);
    client.resume();
    client.write('x');
    await next;
    await once(client, 'close');
    assert.equal(given, 3);
  });
});

function serve(socket: net.Socket, { refusal, onData }: Wishes): Served {
  const runtime = runtimeTls();
  const carrier = carrierOfSocket(socket);
  const { handle } = carrier;
  assert.ok(runtime !== undefined && runtimeHandles !== undefined && handle !== undefined);
  const said: string[] = [];
  const handshake: ServerHandshake = {
    context,
    asksPeer: false,
    refusesMissingPeer: false,
    protocolsFor: undefined,
    choose: undefined,
    onSecure: () => {
      said.push('secure');
      return refusal;
    },
    onFailure: (error) => said.push(`failed ${error.code}`),
    onEnd: () => said.push('ended'),
  };
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const readBuffer = Buffer.alloc(64 * 1024);
  const owner: ByteStreamOwner = {
    onStreamException: (error: unknown) => {
      throw error;
    },
    onStreamConnect: () => said.push('connect'),
    onStreamData: (length, input) => {
      said.push('data');
      onData?.(stream, input.toString('latin1', 0, length));
    },
    onStreamDrain: () => undefined,
    onStreamEnd: () => undefined,
    onStreamClose: (error) => {
      said.push(error === undefined || error.message !== 'no' ? 'close' : 'close no');
      end();
    },
  };
  const options = {
    handles: runtimeHandles,
    readBuffer,
    limitBytes: 1024,
    held: new HeldBytes(),
    owner,
  };
  const stream = new TlsServerStream({ carrier, handle, runtime }, handshake, options);
  return { said, stream, over };
}
