/** The listening sockets that the supervisor makes and keeps. */
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { bindingName } from '../../../../shared/addresses/print-address.ts';
import type { BoundAddress } from '../../../../shared/resources/listener.ts';
import {
  ListeningSockets,
  type ListenerToBind,
} from '../../../../supervisor/sockets/listening-sockets.ts';
import { type AddressToBind } from '../../../../supervisor/resolved/address-to-bind.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-sockets-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('listening sockets', () => {
  it('with reuse_port are one per worker, all on the port that the first one got', () => {
    using sockets = bind({ addresses: [ip('127.0.0.1', 0)] }, 3);
    const fds = [0, 1, 2].map((worker) => sockets.value.socketsOf(worker)[0]?.fd);
    assert.equal(new Set(fds).size, 3);
    const [address] = sockets.value.addresses;
    assert.ok(address?.kind === 'ip' && address.port > 0);
    assert.deepEqual(sockets.value.socketsFor(bindingName(address)), fds);
    assert.deepEqual(sockets.value.socketsFor('tcp://127.0.0.1:1'), []);
  });

  it('without reuse_port, and on a path, are one that all workers share', () => {
    using sockets = bind({
      addresses: [ip('127.0.0.1', 0), pipe(join(folder, 'shared'))],
      reusePort: false,
    });
    const [first, second] = [0, 1].map((worker) => sockets.value.socketsOf(worker));
    assert.deepEqual(first, second);
    assert.equal(first?.length, 2);
  });

  it('refuse connections until they listen, and hold them until somebody accepts', async () => {
    using sockets = bind({ addresses: [ip('127.0.0.1', 0)] }, 1);
    const [socket] = sockets.value.socketsOf(0);
    assert.ok(socket?.address.kind === 'ip');
    const { port } = socket.address;
    const refused = connect(port, '127.0.0.1');
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNREFUSED');
    sockets.value.listen();
    const waiting = connect(port, '127.0.0.1');
    await once(waiting, 'connect');
    waiting.destroy();
    assert.ok(socket.backlog >= 128);
  });

  it('take IPv4 on an IPv6 address only with ipv4_compat', async () => {
    for (const ipv4Compat of [true, false]) {
      using sockets = bind({ addresses: [{ ...ip('::', 0, 'v6'), ipv4Compat }] }, 1);
      sockets.value.listen();
      const [address] = sockets.value.addresses;
      assert.ok(address?.kind === 'ip');
      const client = connect(address.port, '127.0.0.1');
      const outcome = await once(client, 'connect').then(
        () => 'connected',
        () => 'refused',
      );
      client.destroy();
      assert.equal(outcome, ipv4Compat ? 'connected' : 'refused');
    }
  });

  it('on a path replace a stale socket, have the wanted mode and leave no file behind', () => {
    const path = join(folder, 'mode');
    const stale = bind({ addresses: [pipe(path)] });
    stale.value.close(new Set(stale.value.socketsOf(0).map(({ fd }) => fd)));
    assert.ok(existsSync(path));
    const sockets = ListeningSockets.bind(plan({ addresses: [{ ...pipe(path), mode: 0o620 }] }), 1);
    assert.equal(statSync(path).mode & 0o777, 0o620);
    sockets.close();
    assert.equal(existsSync(path), false);
  });

  it('never remove the file of a successor', () => {
    const path = join(folder, 'successor');
    const first = ListeningSockets.bind(plan({ addresses: [pipe(path)] }), 1);
    using _second = bind({ addresses: [pipe(path)] });
    first.close();
    assert.ok(existsSync(path));
  });

  it('may have an abstract name, without padding', () => {
    const name = `@sluice-sockets-${process.pid}`;
    using _sockets = bind({ addresses: [pipe(name)] }, 1);
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    assert.ok(lines.some((line) => line.endsWith(` ${name}`)));
  });

  it('that cannot be bound are named, and leave nothing open', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    assert.ok(typeof address === 'object' && address !== null);
    const inTheWay = join(folder, 'file');
    writeFileSync(inTheWay, 'kept');
    const cases: readonly [AddressToBind, string][] = [
      [
        ip('127.0.0.1', address.port),
        `cannot bind '127.0.0.1:${address.port}': Address already in use`,
      ],
      [ip('192.0.2.1', 0), "cannot bind '192.0.2.1:0': Cannot assign requested address"],
      [pipe('/nonexistent/x.sock'), "cannot bind '/nonexistent/x.sock': No such file or directory"],
      [pipe(inTheWay), `cannot bind '${inTheWay}': Address already in use`],
    ];
    for (const [wrong, message] of cases) {
      const good = ip('127.0.0.1', 0);
      assert.throws(() => ListeningSockets.bind(plan({ addresses: [good, wrong] }), 2), {
        name: 'BindError',
        message,
      });
    }
    assert.ok(existsSync(inTheWay));
    taken.close();
  });
});

function ip(address: string, port: number, family: 'v4' | 'v6' = 'v4'): AddressToBind {
  const bound: BoundAddress = { kind: 'ip', family, address, port };
  return { address: bound, ipv4Compat: false, mode: 0 };
}

function pipe(path: string): AddressToBind {
  return { address: { kind: 'pipe', path }, ipv4Compat: false, mode: 0 };
}

function plan(part: Partial<ListenerToBind>): ListenerToBind {
  return { name: 'web', addresses: [], reusePort: true, backlog: undefined, ...part };
}

function bind(
  part: Partial<ListenerToBind>,
  workers = 2,
): Disposable & { readonly value: ListeningSockets } {
  const value = ListeningSockets.bind(plan(part), workers);
  return { value, [Symbol.dispose]: () => value.close() };
}
