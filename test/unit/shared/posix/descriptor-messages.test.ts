/** Descriptors that travel between processes. */
import assert from 'node:assert/strict';
import { fstatSync, openSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { once } from 'node:events';
import { closeDescriptor, isCloseOnExec } from '../../../../shared/posix/descriptors.ts';
import { signalWhenReadable } from '../../../../shared/posix/descriptors.ts';
import {
  receiveDescriptorMessage,
  sendDescriptorMessage,
} from '../../../../shared/posix/descriptor-messages.ts';
import {
  SOCK_DGRAM,
  SOCK_SEQPACKET,
  SOCK_STREAM,
  SO_PASSCRED,
  SOL_SOCKET,
} from '../../../../shared/posix/layout.ts';
import { openFileLimit, setOpenFileLimit } from '../../../../shared/posix/processes.ts';
import { bindSocket, openSocket, setSocketOption } from '../../../../shared/posix/sockets.ts';
import { openSocketPair } from '../../../support/parts/socket-pair.ts';

describe('descriptor messages', () => {
  it('carry descriptors that open the same file and are closed on exec', () => {
    const [sender, receiver] = openSocketPair(SOCK_SEQPACKET);
    const file = openSync('/dev/null', 'r');
    assert.equal(sendDescriptorMessage(sender, Buffer.from([1]), [file, file, file]), true);
    const message = receiveDescriptorMessage(receiver);
    assert.deepEqual([...(message?.data ?? [])], [1]);
    assert.equal(message?.descriptors.length, 3);
    for (const fd of message.descriptors) {
      assert.equal(fstatSync(fd).rdev, fstatSync(file).rdev);
      assert.ok(isCloseOnExec(fd));
      closeDescriptor(fd);
    }
    [sender, receiver, file].forEach(closeDescriptor);
  });

  it('carry the kernel’s most descriptors at once, and one more is refused', () => {
    const [sender, receiver] = openSocketPair(SOCK_SEQPACKET);
    const most = Array.from({ length: 253 }, () => sender);
    assert.equal(sendDescriptorMessage(sender, Buffer.from([1]), most), true);
    const message = receiveDescriptorMessage(receiver);
    assert.equal(message?.descriptors.length, 253);
    message.descriptors.forEach(closeDescriptor);
    assert.throws(() => sendDescriptorMessage(sender, Buffer.from([1]), [...most, sender]), {
      code: 'EMSGSIZE',
    });
    [sender, receiver].forEach(closeDescriptor);
  });

  it('stay apart on a stream, as the runtime makes one for a child', () => {
    const [sender, receiver] = openSocketPair(SOCK_STREAM);
    for (const count of [1, 3, 2]) {
      const some = Array.from({ length: count }, () => sender);
      assert.equal(sendDescriptorMessage(sender, Buffer.from([count]), some), true);
    }
    for (const count of [1, 3, 2]) {
      const message = receiveDescriptorMessage(receiver);
      assert.deepEqual([...(message?.data ?? [])], [count]);
      assert.equal(message?.descriptors.length, count);
      message.descriptors.forEach(closeDescriptor);
    }
    [sender, receiver].forEach(closeDescriptor);
  });

  it('are absent rather than awaited, and a full queue says so', () => {
    const [sender, receiver] = openSocketPair(SOCK_SEQPACKET);
    assert.equal(receiveDescriptorMessage(receiver), undefined);
    let sent = 0;
    while (sent < 10_000 && sendDescriptorMessage(sender, Buffer.alloc(16_384))) sent += 1;
    assert.ok(sent > 0 && sent < 10_000);
    closeDescriptor(sender);
    for (let taken = 0; taken < sent; taken += 1) {
      assert.equal(receiveDescriptorMessage(receiver)?.data.length, 16_384);
    }
    assert.equal(receiveDescriptorMessage(receiver)?.data.length, 0, 'the end is empty data');
    closeDescriptor(receiver);
  });

  it('are cut with nothing left open where this process may open no more', () => {
    const [sender, receiver] = openSocketPair(SOCK_SEQPACKET);
    const limit = openFileLimit();
    const most = Array.from({ length: 253 }, () => sender);
    const before = readdirSync('/proc/self/fd').length;
    assert.equal(sendDescriptorMessage(sender, Buffer.from([1]), most), true);
    setOpenFileLimit({ ...limit, current: BigInt(before + 20) });
    const message = receiveDescriptorMessage(receiver);
    setOpenFileLimit(limit);
    assert.equal(message?.isCut, true);
    assert.deepEqual(message.descriptors, []);
    assert.equal(readdirSync('/proc/self/fd').length, before);
    [sender, receiver].forEach(closeDescriptor);
  });

  it('of a datagram socket say who sent them, beside the descriptors', () => {
    const name = { kind: 'pipe', path: `@sluice-cut-${process.pid}`, padded: true } as const;
    const receiver = openSocket(name, SOCK_DGRAM);
    bindSocket(receiver, name);
    setSocketOption(receiver, SOL_SOCKET, SO_PASSCRED, 1);
    const sender = openSocket(name, SOCK_DGRAM);
    assert.equal(sendDescriptorMessage(sender, Buffer.alloc(65_536), [sender], name), true);
    const whole = receiveDescriptorMessage(receiver);
    assert.equal(whole?.isCut, false);
    assert.deepEqual(whole.sender, { pid: process.pid, uid: process.getuid?.() });
    whole.descriptors.forEach(closeDescriptor);
    [sender, receiver].forEach(closeDescriptor);
  });

  it('on a datagram socket are announced by SIGIO', async () => {
    const name = { kind: 'pipe', path: `@sluice-posix-${process.pid}`, padded: true } as const;
    const receiver = openSocket(name, SOCK_DGRAM);
    const sender = openSocket(name, SOCK_DGRAM);
    const keepAlive = setInterval(() => undefined, 1000);
    try {
      bindSocket(receiver, name);
      const signal = once(process, 'SIGIO');
      signalWhenReadable(receiver);
      assert.equal(sendDescriptorMessage(sender, Buffer.from('hello'), [], name), true);
      await signal;
      assert.equal(receiveDescriptorMessage(receiver)?.data.toString(), 'hello');
      assert.equal(receiveDescriptorMessage(receiver), undefined);
    } finally {
      clearInterval(keepAlive);
      [sender, receiver].forEach(closeDescriptor);
    }
  });
});
