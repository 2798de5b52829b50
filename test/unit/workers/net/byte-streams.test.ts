import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { HELD_BYTES_CEILING } from '../../../../workers/loop/held-bytes.ts';
import { LIMIT_BYTES, held, Listener, certificates, kinds, serve } from './byte-stream-kinds.ts';

const ONE_MEBIBYTE = 1024 * 1024;

process.once('exit', () => rmSync(certificates, { recursive: true, force: true }));

for (const { kind, isTls, isCounted, connect } of kinds) {
  describe(`a byte stream ${kind}`, () => {
    let folder = '';
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    it('sends text and bytes in order, also before it is connected', async () => {
      await using server = await serve(isTls, (socket) => socket.pipe(socket));
      const owner = new Listener();
      const stream = connect(server.target, owner);
      stream.writeText('one ');
      stream.writeBlock(Buffer.from('two '), () => undefined);
      stream.writeText('three\xff');
      stream.end();
      stream.keepHalfOpen();
      await owner.until('close');
      assert.equal(owner.received, 'one two three\xff');
      assert.equal(owner.error, undefined);
    });

    it('reaches unix sockets', async () => {
      await using server = await serve(isTls, (socket) => socket.end('hello'), join(folder, kind));
      const owner = new Listener();
      const stream = connect(server.target, owner);
      await owner.until('end');
      assert.equal(owner.received, 'hello');
      assert.equal(stream.remoteAddress, undefined);
      stream.close();
    });

    it('knows the addresses of both ends', async () => {
      await using server = await serve(isTls, (socket) => socket.resume());
      const owner = new Listener();
      const stream = connect(server.target, owner);
      await owner.until('connect');
      const accepted = await server.firstAccepted;
      assert.equal(stream.remoteAddress, '127.0.0.1');
      assert.equal(stream.remotePort, server.port);
      assert.equal(stream.localAddress, '127.0.0.1');
      assert.equal(stream.localPort, accepted.remotePort);
      stream.close();
    });

    it('says what keeps it from connecting', async () => {
      const server = await serve(isTls, () => undefined);
      await server[Symbol.asyncDispose]();
      const owner = new Listener();
      connect(server.target, owner);
      await owner.until('close');
      assert.equal(owner.error?.code, 'ECONNREFUSED');
      assert.ok(!owner.said.includes('connect'));
    });

    it('says when too much waits and when there is room again', async () => {
      await using server = await serve(isTls, (socket) => socket.pause());
      const owner = new Listener();
      const stream = connect(server.target, owner);
      await owner.until('connect');
      let written = 0;
      let given = 0;
      while (stream.pendingBytes < LIMIT_BYTES) {
        written += ONE_MEBIBYTE;
        stream.writeBlock(Buffer.alloc(ONE_MEBIBYTE), () => {
          given += ONE_MEBIBYTE;
        });
      }
      assert.equal(stream.writeText('x'), false);
      const accepted = await server.firstAccepted;
      let read = 0;
      accepted.on('data', (piece: Buffer) => {
        read += piece.length;
      });
      accepted.resume();
      await owner.until('drain');
      assert.equal(stream.pendingBytes, 0);
      assert.equal(held.bytes, 0);
      assert.equal(given, written);
      stream.closeAfterWrites();
      await once(accepted, 'end');
      assert.equal(read, written + 1);
    });

    it(
      'says that too much waits with any byte when the worker holds much',
      {
        skip: !isCounted,
      },
      async () => {
        await using server = await serve(isTls, (socket) => socket.pause());
        const owner = new Listener();
        const stream = connect(server.target, owner);
        await owner.until('connect');
        const elsewhere = HELD_BYTES_CEILING / 2;
        held.add(elsewhere);
        let hasRoom = true;
        while (hasRoom) hasRoom = stream.writeText('some more text');
        held.add(-elsewhere);
        assert.ok(stream.pendingBytes < LIMIT_BYTES);
        (await server.firstAccepted).resume();
        await owner.until('drain');
        assert.equal(held.bytes, 0);
        stream.close();
      },
    );

    it('sends everything before it closes, though the peer never ends', async () => {
      await using server = await serve(isTls, (socket) => socket.pause());
      const owner = new Listener();
      const stream = connect(server.target, owner);
      await owner.until('connect');
      while (stream.pendingBytes === 0) {
        stream.writeBlock(Buffer.alloc(ONE_MEBIBYTE), () => undefined);
      }
      stream.closeAfterWrites();
      (await server.firstAccepted).resume();
      await owner.until('close');
      assert.equal(stream.pendingBytes, 0);
      assert.equal(owner.error, undefined);
    });

    it('gives every block back when it is closed before they are written', async () => {
      await using server = await serve(isTls, (socket) => socket.pause());
      const owner = new Listener();
      const stream = connect(server.target, owner);
      await owner.until('connect');
      let given = 0;
      let written = 0;
      let isClosed = false;
      const allGiven = new Promise<void>((resolve) => {
        while (stream.pendingBytes < 4 * ONE_MEBIBYTE) {
          written += 1;
          stream.writeBlock(Buffer.alloc(ONE_MEBIBYTE), () => {
            given += 1;
            if (isClosed && given === written) resolve();
          });
        }
      });
      assert.equal(held.bytes, isCounted ? stream.pendingBytes : 0);
      isClosed = true;
      stream.close();
      await allGiven;
      assert.equal(held.bytes, 0);
      assert.ok(!owner.said.includes('close'), 'who closes is not told');
    });

    it('hears nothing while it is paused, and the rest afterwards', async () => {
      await using server = await serve(isTls, (socket) => {
        socket.write('first');
        socket.once('data', () => socket.end('second'));
      });
      const owner = new Listener();
      const stream = connect(server.target, owner);
      await owner.until('data');
      stream.pause();
      stream.writeText('go on');
      const accepted = await server.firstAccepted;
      await once(accepted, 'finish');
      assert.equal(owner.received, 'first');
      stream.resume();
      await owner.until('end');
      assert.equal(owner.received, 'firstsecond');
      stream.close();
    });

    // A reset that crosses a handshake is whatever the handshake makes of it.
    it('tells a reset from an end', { skip: isTls }, async () => {
      await using server = await serve(isTls, (socket) => socket.resetAndDestroy());
      const owner = new Listener();
      connect(server.target, owner);
      await owner.until('close');
      assert.equal(owner.error?.code, 'ECONNRESET');
    });

    it('resets its peer when told to', { skip: isTls }, async () => {
      await using server = await serve(isTls, (socket) => socket.resume());
      const owner = new Listener();
      const stream = connect(server.target, owner);
      const socket = await server.firstAccepted;
      await owner.until('connect');
      const broken = once(socket, 'error');
      stream.reset();
      const [error] = (await broken) as [NodeJS.ErrnoException];
      assert.equal(error.code, 'ECONNRESET');
    });
  });
}
