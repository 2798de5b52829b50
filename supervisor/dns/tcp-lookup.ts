/** Asks one name server over TCP, which c-ares does for long answers only. Never throws. */
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import type { Clock } from '../../shared/process/clock.ts';
import { parseAuthority } from '../../shared/addresses/authority.ts';
import { type AddressRecord, decodeAnswer, encodeQuestion } from '../../shared/dns/dns-message.ts';

const DNS_PORT = 53;
const ID_MAX = 0x1_0000;

export interface TcpQuestion {
  /** `address` or `address:port`, IPv6 addresses in brackets where there is a port. */
  readonly server: string;
  readonly name: string;
  readonly family: 4 | 6;
  /** For the whole answer. */
  readonly timeoutMs: number;
}

/** The records, or c-ares's code for want of any, such as `ENOTFOUND`. */
export function lookUpOverTcp(
  question: TcpQuestion,
  clock: Clock,
): Promise<readonly AddressRecord[] | string> {
  const { server, name, family, timeoutMs } = question;
  const id = randomInt(ID_MAX);
  const query = encodeQuestion(name, family, id);
  if (query === undefined) return Promise.resolve('EBADNAME');
  const { host, port } = parseAuthority(server, DNS_PORT);
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0);
    const socket = connect({ host, port });
    const limit = clock.after(timeoutMs, () => end('ETIMEOUT'));
    const end = (outcome: readonly AddressRecord[] | string): void => {
      limit.cancel();
      socket.destroy();
      resolve(outcome);
    };
    socket.on('connect', () => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(query.length, 0);
      socket.write(Buffer.concat([length, query]));
    });
    // The length before a message bounds what is kept of it.
    socket.on('data', (data: Buffer) => {
      received = Buffer.concat([received, data]);
      if (received.length < 2) return;
      const whole = 2 + received.readUInt16BE(0);
      if (received.length >= whole)
        end(decodeAnswer(received.subarray(2, whole), { name, family, id }));
    });
    socket.on('error', () => end('ECONNREFUSED'));
    socket.on('close', () => end('ECONNREFUSED'));
  });
}
