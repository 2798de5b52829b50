/** Sockets made through libc: what Node's own modules cannot make. */
import assert from 'node:assert/strict';
import { rmSync, statSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { closeDescriptor, duplicateDescriptor } from '../../../../shared/posix/descriptors.ts';
import { isCloseOnExec, setCloseOnExec } from '../../../../shared/posix/descriptors.ts';
import {
  SO_REUSEADDR,
  SO_REUSEPORT,
  SOCK_STREAM,
  SOL_SOCKET,
} from '../../../../shared/posix/layout.ts';
import {
  bindSocket,
  listenOn,
  localAddress,
  openSocket,
  setSocketOption,
  socketOption,
} from '../../../../shared/posix/sockets.ts';
import {
  decodeSocketAddress,
  encodeSocketAddress,
  type SocketAddress,
} from '../../../../shared/posix/socket-address.ts';

const loopback: SocketAddress = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 };

describe('socket addresses', () => {
  const addresses: readonly SocketAddress[] = [
    { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 80 },
    { kind: 'ip', family: 'v4', address: '255.255.255.255', port: 65535 },
    { kind: 'ip', family: 'v6', address: '::1', port: 443 },
    { kind: 'ip', family: 'v6', address: '::', port: 0 },
    { kind: 'ip', family: 'v6', address: 'fe80::1%1', port: 1 },
    { kind: 'pipe', path: '/run/sluice.sock' },
    { kind: 'pipe', path: '@sluice' },
    { kind: 'pipe', path: '@envoy_domain_socket_parent_0', padded: true },
  ];
  for (const address of addresses) {
    it(`come back from their bytes unchanged: ${JSON.stringify(address)}`, () => {
      assert.deepEqual(decodeSocketAddress(encodeSocketAddress(address)), address);
    });
  }

  it('of a padded abstract name fill the whole of sun_path', () => {
    const bytes = encodeSocketAddress({ kind: 'pipe', path: '@a', padded: true });
    assert.equal(bytes.length, 110);
    assert.deepEqual([...bytes.subarray(0, 5)], [1, 0, 0, 97, 0]);
  });

  it('that are malformed or too long are refused by name', () => {
    assert.throws(
      () => encodeSocketAddress({ kind: 'ip', family: 'v4', address: '1.2.3', port: 1 }),
      { code: 'EINVAL', message: 'malformed IP address: 1.2.3' },
    );
    assert.throws(() => encodeSocketAddress({ kind: 'pipe', path: `/${'x'.repeat(107)}` }), {
      code: 'ENAMETOOLONG',
    });
  });
});

describe('sockets', () => {
  it('share one port through SO_REUSEPORT, and say which', () => {
    const first = openSocket(loopback, SOCK_STREAM);
    const second = openSocket(loopback, SOCK_STREAM);
    try {
      for (const fd of [first, second]) {
        setSocketOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
        setSocketOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
      }
      bindSocket(first, loopback);
      const bound = localAddress(first);
      assert.ok(bound?.kind === 'ip' && bound.port > 0);
      bindSocket(second, bound);
      assert.equal(socketOption(second, SOL_SOCKET, SO_REUSEPORT), 1);
    } finally {
      closeDescriptor(first);
      closeDescriptor(second);
    }
  });

  it('serve when Node adopts them', async () => {
    for (const address of [
      loopback,
      { kind: 'ip', family: 'v6', address: '::1', port: 0 },
    ] satisfies SocketAddress[]) {
      const fd = openSocket(address, SOCK_STREAM);
      bindSocket(fd, address);
      listenOn(fd, 128);
      const bound = localAddress(fd);
      assert.ok(bound?.kind === 'ip');
      const server = createServer((socket) => socket.end('served')).listen({ fd, backlog: 128 });
      await once(server, 'listening');
      const client = connect(bound.port, bound.address);
      const [data] = (await once(client, 'data')) as [Buffer];
      assert.equal(data.toString(), 'served');
      server.close();
    }
  });

  it('of the unix kind appear in the file system', () => {
    const path = join(tmpdir(), `sluice-posix-${process.pid}.sock`);
    const fd = openSocket({ kind: 'pipe', path }, SOCK_STREAM);
    try {
      bindSocket(fd, { kind: 'pipe', path });
      assert.ok(statSync(path).isSocket());
      assert.deepEqual(localAddress(fd), { kind: 'pipe', path });
    } finally {
      closeDescriptor(fd);
      rmSync(path, { force: true });
    }
  });

  it('fail with the errno name and libc’s text', () => {
    const fd = openSocket(loopback, SOCK_STREAM);
    try {
      assert.throws(() => bindSocket(fd, { ...loopback, address: '192.0.2.1' }), {
        name: 'PosixError',
        code: 'EADDRNOTAVAIL',
        syscall: 'bind',
        message: 'Cannot assign requested address',
      });
    } finally {
      closeDescriptor(fd);
    }
    assert.throws(() => closeDescriptor(fd), { code: 'EBADF' });
  });

  it('and their copies are closed on exec unless told otherwise', () => {
    const fd = openSocket(loopback, SOCK_STREAM);
    const copy = duplicateDescriptor(fd);
    try {
      assert.ok(isCloseOnExec(fd) && isCloseOnExec(copy));
      setCloseOnExec(copy, false);
      assert.equal(isCloseOnExec(copy), false);
    } finally {
      closeDescriptor(fd);
      closeDescriptor(copy);
    }
  });
});
