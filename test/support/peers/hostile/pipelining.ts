/** A client of HTTP/1 that writes its requests without waiting for answers. */
import { openRaw } from '../raw-client.ts';

export const PIPELINED_REQUESTS = 10_000;
const REQUEST = 'GET / HTTP/1.1\r\nHost: h.test\r\n\r\n';
const LAST = 'GET / HTTP/1.1\r\nHost: h.test\r\nConnection: close\r\n\r\n';

/** Sends all requests in one write; gives the number of answers when the server has ended. */
export async function pipeliningOnce(port: number): Promise<number> {
  const client = await openRaw(port);
  client.send(REQUEST.repeat(PIPELINED_REQUESTS - 1) + LAST);
  const received = await client.closed();
  client.destroy();
  return received.split('HTTP/1.1 200 OK').length - 1;
}
