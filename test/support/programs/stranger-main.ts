/** A process of another user that sends datagrams; see datagram-senders.ts for its task. */
import { SOCK_DGRAM } from '../../../shared/posix/layout.ts';
import { check, libcFunction } from '../../../shared/posix/libc.ts';
import { addressFamilyOf, encodeSocketAddress } from '../../../shared/posix/socket-address.ts';
import type { StrangerTask } from './datagram-senders.ts';

const socket = libcFunction<[number, number, number], number>('int socket(int, int, int)');
const sendto = libcFunction<[number, Buffer, number, number, Buffer, number], number>(
  'int64_t sendto(int, const uint8_t *, size_t, int, const uint8_t *, uint32_t)',
);

const task = JSON.parse(process.argv[2] ?? '') as StrangerTask;
const fd = check(socket(addressFamilyOf(task.to), SOCK_DGRAM, 0), 'socket');
const name = encodeSocketAddress(task.to);
const datagrams = task.hex.map((hex) => Buffer.from(hex, 'hex'));
// The library is loaded by now: another user may not be able to read it.
process.setgid?.(task.uid);
process.setuid?.(task.uid);
for (let round = 0; round === 0 || task.isFlood === true; round += 1) {
  // Once the server hears another process only, it is refused here; that is no reason to stop.
  for (const data of datagrams) sendto(fd, data, data.length, 0, name, name.length);
  if (round === 0) process.stdout.write('sent\n');
}
