/**
 * Records a hot restart between two processes of Envoy (`envoy` on PATH), for the tests that play
 * each of them. The child gets another --socket-path than its parent, and this program passes on
 * between the two. Run it for a new version of Envoy; the recording is reviewed and committed.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { endpointAddress, sharedMemoryName } from '../supervisor/hot-restart/endpoint-names.ts';
import { closeDescriptor } from '../shared/posix/descriptors.ts';
import {
  receiveDescriptorMessage,
  sendDescriptorMessage,
} from '../shared/posix/descriptor-messages.ts';
import { SOCK_DGRAM } from '../shared/posix/layout.ts';
import type { UnixSocketAddress } from '../shared/posix/socket-address.ts';
import { bindSocket, openSocket } from '../shared/posix/sockets.ts';
import { freePort, okBootstrap } from '../test/support/programs/epochs.ts';
import { fetchOnce } from '../test/support/peers/http-client.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { waitUntil } from '../test/support/wait.ts';
import {
  RECORDED_LISTENER,
  RECORDING_PATH,
  type RecordedDatagram,
  type Recording,
} from '../test/support/programs/recorded-epochs.ts';

const LOOK_PERIOD_MS = 1;
/** The child has one more, so that it asks for a socket that its parent does not have. */
const WORKERS = 2;
const baseId = process.pid;
const ofParent = { baseId, socketPath: `@recorded_parent_${process.pid}` };
const ofChild = { baseId, socketPath: `@recorded_child_${process.pid}` };

using scratch = makeScratch();
const adminPort = await freePort();
const { address, port } = RECORDED_LISTENER;
const bootstrap = okBootstrap(port, adminPort, {
  address: { socket_address: { address, port_value: port } },
});
writeFileSync(scratch.file('bootstrap.json'), JSON.stringify(bootstrap));

const datagrams: RecordedDatagram[] = [];
const ends = [
  passOn('child', endpointAddress(ofChild, 'parent', 0), endpointAddress(ofParent, 'parent', 0)),
  passOn('parent', endpointAddress(ofParent, 'child', 1), endpointAddress(ofChild, 'child', 1)),
];
const timer = setInterval(() => ends.forEach((end) => end.look()), LOOK_PERIOD_MS);

const parent = await startEnvoy(0, ofParent.socketPath);
await fetch(`http://${address}:${port}/`);
const sharedMemory = readFileSync(`/dev/shm${sharedMemoryName(baseId)}`);
const child = await startEnvoy(1, ofChild.socketPath);
if (parent.exitCode === null) await once(parent, 'exit');
child.kill('SIGTERM');
await once(child, 'exit');
clearInterval(timer);
const recording: Recording = {
  version: versionOfEnvoy(),
  sharedMemoryBase64: sharedMemory.toString('base64'),
  datagrams,
};
writeFileSync(RECORDING_PATH, `${JSON.stringify(recording, null, 1)}\n`);
console.log(`recorded ${datagrams.length} datagrams of ${recording.version}`);

/** What is sent to the first name goes on to the second, from a socket of the first. */
function passOn(
  from: RecordedDatagram['from'],
  name: UnixSocketAddress,
  to: UnixSocketAddress,
): { look(): void } {
  const fd = openSocket(name, SOCK_DGRAM);
  bindSocket(fd, name);
  return {
    look: () => {
      for (;;) {
        const message = receiveDescriptorMessage(fd);
        if (message === undefined) return;
        const { data, descriptors } = message;
        if (!sendDescriptorMessage(fd, data, descriptors, to)) throw new Error('no room');
        descriptors.forEach(closeDescriptor);
        datagrams.push({ from, base64: data.toString('base64'), descriptors: descriptors.length });
      }
    },
  };
}

async function startEnvoy(epoch: number, socketPath: string): Promise<ChildProcess> {
  const times = ['--drain-time-s', '1', '--parent-shutdown-time-s', '2'];
  const names = ['--base-id', String(baseId), '--socket-path', socketPath];
  const words = ['-c', scratch.file('bootstrap.json'), '--restart-epoch', String(epoch)];
  const server = spawn(
    'envoy',
    [...words, ...names, ...times, '--concurrency', String(WORKERS + epoch), '-l', 'error'],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  await waitUntil(`epoch ${epoch}`, async () => {
    if (server.exitCode !== null) throw new Error(`epoch ${epoch} ended`);
    const ask = { port: adminPort, path: '/server_info' };
    const answer = await fetchOnce(ask).catch(() => undefined);
    const { body = '' } = answer ?? {};
    return body.includes(`"restart_epoch": ${epoch}`) && body.includes('"state": "LIVE"');
  });
  return server;
}

/** Such as `1.40.0`. */
function versionOfEnvoy(): string {
  const { stdout } = spawnSync('envoy', ['--version'], { encoding: 'utf8' });
  return /version: [0-9a-f]+\/(\d+\.\d+\.\d+)\//.exec(stdout)?.[1] ?? 'unknown';
}
