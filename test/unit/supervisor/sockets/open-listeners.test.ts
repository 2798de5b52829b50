/**
 * What becomes of connections when listening sockets close, here and in the epoch that has them,
 * too.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { closeDescriptor, duplicateDescriptor } from '../../../../shared/posix/descriptors.ts';
import { SOCK_STREAM } from '../../../../shared/posix/layout.ts';
import {
  acceptWaiting,
  bindSocket,
  listenOn,
  localAddress,
  openSocket,
} from '../../../../shared/posix/sockets.ts';
import type { ResolvedListener } from '../../../../supervisor/resolved/resolved-bootstrap.ts';
import { Activation } from '../../../../supervisor/sockets/activation.ts';
import { OpenListeners } from '../../../../supervisor/sockets/open-listeners.ts';
import { makeScratch } from '../../../support/scratch.ts';
import { within } from '../../../support/wait.ts';

type Address = ResolvedListener['addresses'][number]['address'];

interface Shared {
  readonly listeners: OpenListeners;
  /** What another process has of the socket that these listeners took. */
  readonly fd: number;
  readonly connect: () => Socket;
}

async function share(address: Address, isParentThere: boolean): Promise<Shared> {
  const fd = openSocket(address, SOCK_STREAM);
  bindSocket(fd, address);
  listenOn(fd, 16);
  const bound = localAddress(fd) ?? address;
  const listeners = new OpenListeners(new Activation([], () => undefined), false);
  const configured = {
    resource: { name: 'a', addresses: [bound] },
    addresses: [{ address: bound, ipv4Compat: false, mode: 0 }],
    reusePort: false,
  } as unknown as ResolvedListener;
  const take = (): Promise<readonly number[]> => Promise.resolve([duplicateDescriptor(fd)]);
  await listeners.takeAll([configured], 1, take, () => isParentThere);
  listeners.listen('a');
  return {
    listeners,
    fd,
    connect: () => (bound.kind === 'ip' ? connect(bound.port, bound.address) : connect(bound.path)),
  };
}

const LOOPBACK: Address = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 };

describe('listeners that close', () => {
  for (const kind of ['tcp', 'unix'] as const) {
    const addressIn = (folder: string): Address =>
      kind === 'tcp' ? LOOPBACK : { kind: 'pipe', path: `${folder}/socket` };

    it(`leave the sockets of an epoch that serves on as they are (${kind})`, async () => {
      using scratch = makeScratch();
      const { listeners, fd, connect: client } = await share(addressIn(scratch.path), true);
      listeners.closeAll();
      const socket = client();
      await within('the connection', once(socket, 'connect'), 5_000);
      const accepted = acceptWaiting(fd);
      assert.ok(accepted !== undefined);
      [accepted, fd].forEach(closeDescriptor);
      socket.destroy();
    });

    it(`let nobody in any more, and nobody out who waits (${kind})`, async () => {
      using scratch = makeScratch();
      const { listeners, fd, connect: client } = await share(addressIn(scratch.path), false);
      const waiting = client();
      await once(waiting, 'connect');
      listeners.closeAll();
      const late = client();
      const refused = once(late, 'error') as Promise<[NodeJS.ErrnoException]>;
      const accepted = acceptWaiting(fd);
      assert.ok(accepted !== undefined);
      assert.equal(acceptWaiting(fd), undefined);
      closeDescriptor(fd);
      assert.equal((await refused)[0].code, 'ECONNREFUSED');
      closeDescriptor(accepted);
      await once(waiting.resume(), 'close');
    });
  }
});
