/**
 * What a service manager hands to the program and hears from it, with a socket of the test's own.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { describe, it } from 'node:test';
import { closeDescriptor } from '../../../shared/posix/descriptors.ts';
import { receiveDescriptorMessage } from '../../../shared/posix/descriptor-messages.ts';
import { SOCK_DGRAM } from '../../../shared/posix/layout.ts';
import { bindSocket, openSocket } from '../../../shared/posix/sockets.ts';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { makeEpochs } from '../../support/programs/epochs.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startRestarter } from '../../support/programs/restarter.ts';
import { makeScratch } from '../../support/scratch.ts';
import { MAIN, startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const direct = bootstrap({ listeners: [httpListener(GREETING)] });

/** A notify socket: everything that was said so far, and how many descriptors came. */
function notifySocket(path: string) {
  const address = { kind: 'pipe', path } as const;
  const fd = openSocket(address, SOCK_DGRAM);
  bindSocket(fd, address);
  const said: string[] = [];
  const stored: string[] = [];
  return {
    said: () => {
      for (let word = receiveDescriptorMessage(fd); word !== undefined;) {
        said.push(word.data.toString());
        if (word.descriptors.length > 0) stored.push(word.data.toString());
        word.descriptors.forEach(closeDescriptor);
        word = receiveDescriptorMessage(fd);
      }
      return said;
    },
    stored,
    [Symbol.dispose]: () => closeDescriptor(fd),
  };
}

describe('a service manager', () => {
  it('hears READY, gets the sockets, is asked for time while connections drain', async () => {
    using scratch = makeScratch();
    using manager = notifySocket(scratch.file('notify'));
    await using sluice = await startSluice({
      bootstrap: direct,
      scratch,
      args: ['--drain-on-sigterm', '--drain-time-s', '60'],
      env: { NOTIFY_SOCKET: scratch.file('notify'), WATCHDOG_USEC: '2000000' },
    });
    const hears = (pattern: RegExp) =>
      waitUntil(String(pattern), () => manager.said().some((word) => pattern.test(word)));
    await hears(/^READY=1\nSTATUS=epoch 0/);
    await hears(/^WATCHDOG=1$/);
    assert.deepEqual(manager.stored, ['FDSTORE=1\nFDNAME=web']);
    const client = await openRaw(await sluice.listenerPort('web'));
    sluice.signal('SIGTERM');
    await hears(/^STATUS=draining: 1 connections open, at most \d+ s left$/);
    await hears(/^EXTEND_TIMEOUT_USEC=\d+$/);
    client.destroy();
    await hears(/^STOPPING=1/);
    assert.equal((await sluice.exited()).code, 0);
  });

  it('is answered a reload at once, and gives up the sockets of a listener that is closed', async () => {
    using scratch = makeScratch();
    using manager = notifySocket(scratch.file('notify'));
    await using sluice = await startSluice({
      bootstrap: direct,
      scratch,
      env: { NOTIFY_SOCKET: scratch.file('notify') },
    });
    const hears = (pattern: RegExp) =>
      waitUntil(String(pattern), () => manager.said().some((word) => pattern.test(word)));
    sluice.signal('SIGHUP');
    await hears(/^RELOADING=1\nMONOTONIC_USEC=\d+\nSTATUS=/);
    await hears(/^READY=1\nSTATUS=SIGHUP had no effect: hot restarts need sluice-restarter$/);
    await sluice.admin({ path: '/drain_listeners', method: 'POST' });
    await hears(/^FDSTOREREMOVE=1\nFDNAME=web$/);
  });

  it('hears of each reload from sluice-restarter, and of sockets from the epochs', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    const path = epochs.scratch.file('notify');
    using manager = notifySocket(path);
    await using restarter = startRestarter(epochs, { env: { NOTIFY_SOCKET: path } });
    const hears = (pattern: RegExp) =>
      waitUntil(String(pattern), () => manager.said().some((word) => pattern.test(word)));
    await hears(/^READY=1\nSTATUS=epoch 0 is live$/);
    await hears(/^WATCHDOG=1$/);
    restarter.process.kill('SIGHUP');
    await hears(/^RELOADING=1\nMONOTONIC_USEC=\d+\nSTATUS=starting epoch 1$/);
    await hears(/^READY=1\nSTATUS=epoch 1 is live$/);
    // Those of the epoch before are replaced, whatever address they had.
    const stores = await waitUntil('the sockets of epoch 1', () => {
      const words = manager.said().filter((word) => word.startsWith('FD'));
      return words.length > 2 && words;
    });
    assert.deepEqual(stores, [
      'FDSTORE=1\nFDNAME=web',
      'FDSTOREREMOVE=1\nFDNAME=web',
      'FDSTORE=1\nFDNAME=web',
    ]);
    restarter.process.kill('SIGTERM');
    await hears(/^STOPPING=1/);
    // The main process stays the same, so that nobody may say otherwise.
    assert.ok(manager.said().every((word) => !word.includes('MAINPID')));
  });

  for (const [how, name, configuredPort] of [
    ['name', 'web', 1],
    ['address', 'whatever', undefined],
  ] as const) {
    it(`hands sockets over that are matched by ${how}, and workers inherit none`, async () => {
      using scratch = makeScratch();
      const server = await listen();
      const { port } = server.address() as AddressInfo;
      const address = {
        socket_address: { address: '127.0.0.1', port_value: configuredPort ?? port },
      };
      const config = bootstrap({ listeners: [httpListener(GREETING, { listener: { address } })] });
      writeFileSync(scratch.file('bootstrap.json'), JSON.stringify(config));
      const child = spawn(
        process.execPath,
        [MAIN, '-c', scratch.file('bootstrap.json'), '--disable-hot-restart', '--concurrency', '2'],
        {
          stdio: ['ignore', 'ignore', 'pipe', fdOf(server)],
          env: { ...process.env, SLUICE_LISTEN_FDS: '1', LISTEN_FDNAMES: name },
        },
      );
      try {
        let log = '';
        child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
        // From here on only the program has the socket: the connection waits until it accepts.
        server.close();
        const answer = await waitUntil('an answer', () =>
          fetchOnce({ port }).catch(() => {
            if (child.exitCode !== null) throw new Error(log);
            return undefined;
          }),
        );
        assert.equal(answer.body, 'hi');
      } finally {
        child.kill('SIGTERM');
      }
      await waitUntil('the end', () => child.exitCode !== null);
      await assert.rejects(fetchOnce({ port }), /ECONNREFUSED/);
    });
  }
});

async function listen(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

function fdOf(server: Server): number {
  return (server as unknown as { _handle: { fd: number } })._handle.fd;
}
