import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { chownSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { ChildSide } from '../../../../supervisor/hot-restart/child-side.ts';
import { endpointAddress } from '../../../../supervisor/hot-restart/endpoint-names.ts';
import { ParentSide, type ParentCommands } from '../../../../supervisor/hot-restart/parent-side.ts';
import {
  hotRestartVersion,
  removeSharedObject,
  SharedObject,
  type SharedObjectRefusal,
} from '../../../../supervisor/hot-restart/shared-object.ts';
import { systemClock } from '../../../../shared/process/clock.ts';
import { closeDescriptor } from '../../../../shared/posix/descriptors.ts';
import { SOCK_STREAM } from '../../../../shared/posix/layout.ts';
import { bindSocket, localAddress, openSocket } from '../../../../shared/posix/sockets.ts';
import { makeScratch } from '../../../support/scratch.ts';

const ANY_PORT = { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 } as const;

interface Pair {
  readonly parent: ParentSide;
  readonly child: ChildSide;
  readonly told: string[];
}

function startPair(socketPath: string, commands: Partial<ParentCommands> = {}): Pair {
  const meeting = { baseId: process.pid, socketPath };
  const told: string[] = [];
  const common = { clock: systemClock, socketMode: 0o600 };
  const parent = new ParentSide({
    ...common,
    own: endpointAddress(meeting, 'parent', 0),
    child: endpointAddress(meeting, 'child', 1),
    commands: () => ({
      shutdownAdmin: () => ({ originalStartTimeUnixSeconds: 42, enableReusePortDefault: true }),
      listenSocket: () => undefined,
      exportStats: () =>
        Promise.resolve({
          memoryAllocated: 1,
          numConnections: 2,
          counterDeltas: new Map([['a.b', 3]]),
          gauges: new Map(),
          areTotals: false,
        }),
      drainListeners: () => void told.push('drain'),
      terminate: () => void told.push('terminate'),
      ...commands,
    }),
    malformed: (reason) => void told.push(reason),
    stranger: (uid) => void told.push(`user ${uid}`),
    childGone: () => void told.push('child gone'),
    failed: (error) => void told.push(String(error)),
  });
  const child = new ChildSide({
    ...common,
    own: endpointAddress(meeting, 'child', 1),
    parent: endpointAddress(meeting, 'parent', 0),
    lastStats: () => undefined,
    malformed: (reason) => void told.push(reason),
    stranger: (uid) => void told.push(`user ${uid}`),
    replyLimitMs: 500,
  });
  return { parent, child, told };
}

function close(pair: Pair): void {
  pair.child.close();
  pair.parent.close();
}

for (const [kind, makePath] of [
  ['abstract', () => '@sluice_test'],
  ['file', (folder: string) => `${folder}/hot`],
] as const) {
  describe(`two epochs over ${kind} sockets`, () => {
    it('the child asks, the parent answers, in order', async () => {
      using scratch = makeScratch();
      const pair = startPair(makePath(scratch.path));
      const answers = await Promise.all([
        pair.child.shutdownParentAdmin(),
        pair.child.parentStats(),
        pair.child.drainParentListeners(),
        pair.child.takeListenSocket('tcp://127.0.0.1:1', 0),
      ]);
      close(pair);
      assert.deepEqual(answers[0], {
        outcome: 'answered',
        value: {
          kind: 'shutdown_admin',
          originalStartTimeUnixSeconds: 42,
          enableReusePortDefault: true,
        },
      });
      assert.ok(answers[1].outcome === 'answered');
      assert.deepEqual(answers[1].value.counterDeltas, new Map([['a.b', 3]]));
      assert.equal(answers[2], true);
      assert.deepEqual(answers[3], { outcome: 'answered', value: undefined });
      assert.deepEqual(pair.told, ['drain']);
    });

    it('a listening socket passes and stays the same socket', async () => {
      using scratch = makeScratch();
      const fd = openSocket(ANY_PORT, SOCK_STREAM);
      bindSocket(fd, ANY_PORT);
      const pair = startPair(makePath(scratch.path), { listenSocket: () => fd });
      const answer = await pair.child.takeListenSocket('tcp://127.0.0.1:0', 1);
      close(pair);
      assert.ok(answer.outcome === 'answered' && answer.value !== undefined);
      assert.notEqual(answer.value, fd);
      assert.deepEqual(localAddress(answer.value), localAddress(fd));
      closeDescriptor(fd);
      closeDescriptor(answer.value);
    });

    it('a parent that is gone is an outcome', async () => {
      using scratch = makeScratch();
      const pair = startPair(makePath(scratch.path));
      pair.parent.close();
      const answer = await pair.child.parentStats();
      assert.deepEqual(answer, { outcome: 'gone' });
      assert.equal(await pair.child.terminateParent(), false);
      pair.child.close();
    });

    it('a parent that does not answer is given up after the limit', async () => {
      using scratch = makeScratch();
      const pair = startPair(makePath(scratch.path), {
        exportStats: () => new Promise(() => undefined),
      });
      assert.deepEqual(await pair.child.parentStats(), { outcome: 'silent', afterMs: 500 });
      close(pair);
    });

    it('a second server with the same base id is refused', () => {
      using scratch = makeScratch();
      const pair = startPair(makePath(scratch.path));
      assert.throws(() => startPair(makePath(scratch.path)), { code: 'EADDRINUSE' });
      close(pair);
    });
  });
}

describe('socket files', () => {
  it('one that a dead process left is replaced, and ours is removed', () => {
    using scratch = makeScratch();
    const { path } = endpointAddress(
      { baseId: process.pid, socketPath: scratch.file('hot') },
      'parent',
      0,
    );
    const left = openSocket({ kind: 'pipe', path }, SOCK_STREAM);
    bindSocket(left, { kind: 'pipe', path });
    closeDescriptor(left);
    assert.ok(existsSync(path));
    close(startPair(scratch.file('hot')));
    assert.ok(!existsSync(path));
  });
});

describe('the shared object', () => {
  const name = `/sluice_test_${process.pid}`;

  it('is made by the first epoch and opened by the next', () => {
    const first = SharedObject.create(name);
    assert.ok(first instanceof SharedObject);
    first.markInitializing();
    const second = SharedObject.open(name);
    assert.ok(second instanceof SharedObject);
    assert.equal(second.isInitializing, true);
    second.markInitialized();
    assert.equal(first.isInitializing, false);
    removeSharedObject(name);
  });

  it('says why it cannot be shared', () => {
    assert.deepEqual(SharedObject.open(name), { reason: 'missing', name });
    writeFileSync(`/dev/shm${name}`, Buffer.alloc(104, 1));
    const refusal = SharedObject.open(name);
    removeSharedObject(name);
    assert.ok(!(refusal instanceof SharedObject) && refusal.reason === 'incompatible');
  });

  it('is refused where something else or somebody else has its name', () => {
    const path = `/dev/shm${name}`;
    const reasonOf = (made: SharedObject | SharedObjectRefusal): string =>
      made instanceof SharedObject ? 'made' : made.reason;
    symlinkSync('/dev/null', path);
    assert.equal(reasonOf(SharedObject.open(name)), 'unusable');
    rmSync(path);
    mkdirSync(path);
    assert.equal(reasonOf(SharedObject.open(name)), 'unusable');
    assert.equal(reasonOf(SharedObject.create(name)), 'unusable');
    rmSync(path, { recursive: true });
    if (process.getuid?.() !== 0) return;
    assert.equal(reasonOf(SharedObject.create(name)), 'made');
    chownSync(path, 65_534, 65_534);
    assert.equal(reasonOf(SharedObject.open(name)), 'unusable');
    assert.equal(reasonOf(SharedObject.create(name)), 'made');
    removeSharedObject(name);
  });

  it('has Envoy’s size and version', () => {
    const wanted: Record<string, string> = { x64: '11.104', arm64: '11.120' };
    assert.equal(hotRestartVersion(), wanted[process.arch]);
  });
});
