import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { SOCK_STREAM } from '../../../../shared/posix/layout.ts';
import {
  bindSocket,
  listenOn,
  localAddress,
  openSocket,
} from '../../../../shared/posix/sockets.ts';
import { type Accepted, Acceptor } from '../../../../workers/listener/acceptor.ts';
import { waitUntil } from '../../../support/wait.ts';

const BACKLOG = 1000;

function listeningSocket(): { readonly fd: number; readonly port: number } {
  const address = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 } as const;
  const fd = openSocket(address, SOCK_STREAM);
  bindSocket(fd, address);
  listenOn(fd, BACKLOG);
  const bound = localAddress(fd);
  assert.ok(bound?.kind === 'ip');
  return { fd, port: bound.port };
}

function descriptorOf({ fd, port }: { readonly fd: number; readonly port: number }): {
  readonly fd: number;
  readonly backlog: number;
  readonly address: Parameters<typeof Acceptor.listen>[0]['address'];
} {
  const address = { kind: 'ip', family: 'v4', address: '127.0.0.1', port } as const;
  return { fd, backlog: BACKLOG, address };
}

async function connectAll(port: number, count: number): Promise<readonly Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1');
      await new Promise((resolve) => socket.once('connect', resolve));
      return socket;
    }),
  );
}

describe('accepting', () => {
  it('takes many waiting connections in one turn of the loop, and in the end all', async () => {
    const socket = listeningSocket();
    const clients = await connectAll(socket.port, 100);
    const accepted: Accepted[] = [];
    let inFirstTurn = 0;
    const acceptor = await Acceptor.listen(descriptorOf(socket), (each) => {
      accepted.push(each);
      if (accepted.length === 1) setImmediate(() => (inFirstTurn = accepted.length));
    });
    await waitUntil('all connections', () => accepted.length === clients.length);
    assert.ok(inFirstTurn >= 64, `${inFirstTurn} connections in the first turn`);
    for (const each of accepted) if (each.kind === 'handle') each.handle.close();
    for (const client of clients) client.destroy();
    await acceptor.close(false);
  });
});
