/**
 * Sluice takes over from a recorded Envoy and hands over to one, byte for byte, where none is
 * installed. reference.test.ts does the same with a live one; scripts/record-hot-restart.ts made
 * the recording.
 */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { decodeHotRestartMessage } from '../../../supervisor/hot-restart/hot-restart-codec.ts';
import {
  endpointAddress,
  sharedMemoryName,
  type EndpointRole,
} from '../../../supervisor/hot-restart/endpoint-names.ts';
import { closeDescriptor } from '../../../shared/posix/descriptors.ts';
import { SOCK_STREAM } from '../../../shared/posix/layout.ts';
import { bindSocket, listenOn, localAddress, openSocket } from '../../../shared/posix/sockets.ts';
import { makeEpochs, okBootstrap, type Epochs } from '../../support/programs/epochs.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import {
  RECORDED_LISTENER,
  RecordedEnd,
  readRecording,
  type RecordedDatagram,
} from '../../support/programs/recorded-epochs.ts';

const recording = readRecording();
const WORKERS = 2;
const LENGTH_BYTES = 8;
/** Sluice says in its question for statistics who it is; Envoy passes over the field. */
const OWN_STATS_QUESTION = '0000000000000007' + '0a051a03' + 'c03e01';
const ENVOY_STATS_QUESTION = '0000000000000004' + '0a021a00';

interface Exchange {
  readonly question: RecordedDatagram;
  readonly answer: RecordedDatagram | undefined;
}

/** What the child said, each with what the parent answered before the child spoke again. */
function exchanges(): readonly Exchange[] {
  return recording.datagrams.flatMap((question, index) => {
    if (question.from === 'parent') return [];
    const next = recording.datagrams[index + 1];
    return [{ question, answer: next?.from === 'parent' ? next : undefined }];
  });
}

function hexOf({ base64 }: RecordedDatagram): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function decoded(data: Buffer): ReturnType<typeof decodeHotRestartMessage> {
  return decodeHotRestartMessage(data.subarray(LENGTH_BYTES));
}

function nameOf(
  epochs: Epochs,
  role: EndpointRole,
  epoch: number,
): ReturnType<typeof endpointAddress> {
  return endpointAddress(
    { baseId: epochs.baseId, socketPath: '@envoy_domain_socket' },
    role,
    epoch,
  );
}

function recordedBootstrap(epochs: Epochs): object {
  const { address, port } = RECORDED_LISTENER;
  const listener = { address: { socket_address: { address, port_value: port } } };
  return okBootstrap(port, epochs.adminPort, listener);
}

function listeningSocket(): number {
  const any = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 } as const;
  const fd = openSocket(any, SOCK_STREAM);
  bindSocket(fd, any);
  listenOn(fd, 16);
  return fd;
}

function portOf(fd: number): number {
  const address = localAddress(fd);
  return address?.kind === 'ip' ? address.port : 0;
}

/** Numbers of descriptors and the time of the start are of one process. */
function withoutOwnNumbers(data: Buffer): unknown {
  const message = decoded(data);
  if (message.kind !== 'reply' || message.reply.kind !== 'shutdown_admin') return message;
  return { ...message.reply, originalStartTimeUnixSeconds: 0 };
}

describe(`a recorded Envoy ${recording.version}`, () => {
  it('as the parent is taken over from: its sockets, its statistics, its end', async () => {
    await using epochs = await makeEpochs();
    writeFileSync(
      `/dev/shm${sharedMemoryName(epochs.baseId)}`,
      Buffer.from(recording.sharedMemoryBase64, 'base64'),
      { mode: 0o600 },
    );
    const parent = new RecordedEnd(nameOf(epochs, 'parent', 0), nameOf(epochs, 'child', 1));
    const sockets = Array.from({ length: WORKERS }, listeningSocket);
    const ports = sockets.map(portOf);
    const answers = new Map(exchanges().map(({ question, answer }) => [hexOf(question), answer]));
    const asked: string[] = [];
    const play = async (): Promise<void> => {
      for (;;) {
        const hex = (await parent.receive()).data.toString('hex');
        asked.push(hex);
        const question = hex === OWN_STATS_QUESTION ? ENVOY_STATS_QUESTION : hex;
        assert.ok(answers.has(question), `Envoy never said ${hex}`);
        const answer = answers.get(question);
        const passed = answer?.descriptors === 1 ? sockets.slice(0, 1) : [];
        if (answer !== undefined) await parent.send(answer, passed);
        passed.forEach((fd) => closeDescriptor(sockets.splice(sockets.indexOf(fd), 1)[0] ?? fd));
        if (decoded(Buffer.from(hex, 'hex')).kind === 'unknown') assert.fail(`unknown: ${hex}`);
        if (hex === hexOf(lastQuestion())) return;
      }
    };
    const played = play().finally(() => parent.close());
    const bootstrap = recordedBootstrap(epochs);
    const sluice = await epochs.start(1, { bootstrap });
    for (const port of ports) {
      const answer = await fetchOnce({ port, path: '/' });
      assert.equal(answer.status, 200);
    }
    await played;
    // All that an Envoy says is said, once at least, and in its bytes.
    const said = new Set(
      asked.map((hex) => (hex === OWN_STATS_QUESTION ? ENVOY_STATS_QUESTION : hex)),
    );
    assert.deepEqual([...said].sort(), [...answers.keys()].sort());
    // Its answer says what came since the one before, whenever it is asked.
    const times = asked.filter((hex) => hex === OWN_STATS_QUESTION).length;
    const counted = recordedCounter('listener_manager.listener_added');
    assert.equal(await sluice.stat('listener_manager.listener_added'), times * counted + 1);
    assert.equal(await sluice.stat('server.hot_restart_generation'), 2);
    assert.equal((await sluice.stop()).code, 0);
  });

  it('as the child takes over: it is answered as an Envoy answers', async () => {
    await using epochs = await makeEpochs();
    const bootstrap = recordedBootstrap(epochs);
    const sluice = await epochs.start(0, { bootstrap, concurrency: WORKERS });
    const child = new RecordedEnd(nameOf(epochs, 'child', 1), nameOf(epochs, 'parent', 0));
    const sockets: number[] = [];
    for (const { question, answer } of exchanges()) {
      await child.send(question);
      if (answer === undefined) continue;
      const { data, descriptors } = await child.receive();
      sockets.push(...descriptors);
      assert.equal(descriptors.length, answer.descriptors);
      const wanted = Buffer.from(answer.base64, 'base64');
      const reply = decoded(data);
      if (reply.kind === 'reply' && reply.reply.kind === 'stats') compareStats(data, wanted);
      else assert.deepEqual(withoutOwnNumbers(data), withoutOwnNumbers(wanted));
      // A descriptor's number is in the bytes of the socket that is passed, and only there.
      if (answer.descriptors === 0 && data.length < 30 && !isStartTime(wanted)) {
        assert.equal(data.toString('hex'), wanted.toString('hex'));
      }
    }
    assert.equal((await sluice.exited()).code, 0);
    assert.deepEqual(sockets.map(portOf), [RECORDED_LISTENER.port, RECORDED_LISTENER.port]);
    assert.equal(child.receiveNow(), undefined);
    sockets.forEach(closeDescriptor);
    child.close();
    rmSync(`/dev/shm${sharedMemoryName(epochs.baseId)}`, { force: true });
  });
});

function lastQuestion(): RecordedDatagram {
  const last = exchanges().at(-1);
  assert.ok(last !== undefined);
  return last.question;
}

function isStartTime(data: Buffer): boolean {
  const message = decoded(data);
  return message.kind === 'reply' && message.reply.kind === 'shutdown_admin';
}

function recordedCounter(name: string): number {
  for (const { base64 } of recording.datagrams) {
    const message = decoded(Buffer.from(base64, 'base64'));
    if (message.kind !== 'reply' || message.reply.kind !== 'stats') continue;
    return message.reply.stats.counterDeltas.get(name) ?? 0;
  }
  return 0;
}

/** The values are of one process; what is told at all of a server that answers is the same. */
function compareStats(data: Buffer, wanted: Buffer): void {
  const [ours, theirs] = [decoded(data), decoded(wanted)];
  assert.ok(ours.kind === 'reply' && ours.reply.kind === 'stats');
  assert.ok(theirs.kind === 'reply' && theirs.reply.kind === 'stats');
  const { counterDeltas, gauges } = ours.reply.stats;
  for (const name of [
    'listener_manager.listener_added',
    'listener_manager.listener_create_success',
  ]) {
    assert.equal(counterDeltas.get(name), theirs.reply.stats.counterDeltas.get(name), name);
  }
  assert.equal(gauges.get('server.hot_restart_generation'), 1);
  assert.equal(theirs.reply.stats.gauges.get('server.hot_restart_generation'), 1);
  assert.equal(ours.reply.stats.areTotals, false);
}
