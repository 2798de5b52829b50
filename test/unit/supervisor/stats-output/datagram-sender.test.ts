/** Datagrams of statistics, and what others send to the socket that they come from. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { openDatagramSender } from '../../../../supervisor/stats-output/sinks/datagram-sender.ts';

describe('a sender of datagrams over UDP', () => {
  it('has a socket that takes nothing from anybody but its receiver', async () => {
    const receiver = createSocket('udp4').bind(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const sender = await openDatagramSender({ address: '127.0.0.1', port });
    sender.send('one');
    const [, { port: from }] = (await once(receiver, 'message')) as [Buffer, AddressInfo];
    const stranger = createSocket('udp4');
    stranger.connect(from, '127.0.0.1');
    await once(stranger, 'connect');
    stranger.send('flood');
    const [refusal] = (await once(stranger, 'error')) as [NodeJS.ErrnoException];
    assert.equal(refusal.code, 'ECONNREFUSED');
    sender.send('two');
    assert.equal(String((await once(receiver, 'message'))[0]), 'two');
    await sender.close();
    stranger.close();
    receiver.close();
  });

  it('goes on when its receiver comes back, and ends when nothing can be sent', async () => {
    const first = createSocket('udp4').bind(0, '127.0.0.1');
    await once(first, 'listening');
    const { port } = first.address() as AddressInfo;
    first.close();
    const sender = await openDatagramSender({ address: '127.0.0.1', port });
    sender.send('lost');
    const again = createSocket('udp4').bind(port, '127.0.0.1');
    await once(again, 'listening');
    const heard = once(again, 'message');
    const timer = setInterval(() => sender.send('heard'), 5);
    assert.match(String((await heard)[0]), /^(lost|heard)$/);
    clearInterval(timer);
    await sender.close();
    again.close();
    const nowhere = await openDatagramSender({ address: '255.255.255.255', port: 1 });
    nowhere.send('x');
    await nowhere.close();
  });
});
