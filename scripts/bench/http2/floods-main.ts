/**
 * Floods of HTTP/2 in a process of their own, with the lowest priority, so that they take no time
 * from the load and the upstream on their core. Argument: connections per second. Its parent sends
 * `{ port, title }`; the flood goes on until an empty title comes, and `{ rounds }` is told then.
 */
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { floodOnce, HTTP2_FLOODS } from '../../../test/support/peers/hostile/http2-floods.ts';

const [perSecond = 0] = process.argv.slice(2).map(Number);
const spacingMs = 1000 / perSecond;
/** Connections at once; where the server is slower, the rate is not reached. */
const MAX_OPEN = 50;
let wanted = '';

setPriority(constants.priority.PRIORITY_LOW);
process.on('disconnect', () => process.exit());
process.on('message', ({ port, title }: { readonly port: number; readonly title: string }) => {
  wanted = title;
  if (title !== '') void flood(port, title);
});
process.send?.('ready');

async function flood(port: number, title: string): Promise<void> {
  const each = HTTP2_FLOODS.find((one) => one.title === title);
  const open = new Set<Promise<unknown>>();
  let rounds = 0;
  while (wanted === title && each !== undefined) {
    if (open.size >= MAX_OPEN) await Promise.race(open);
    const one: Promise<unknown> = floodOnce(port, each)
      .catch(() => undefined)
      .finally(() => open.delete(one));
    open.add(one);
    rounds++;
    await delay(spacingMs);
  }
  await Promise.all(open);
  process.send?.({ rounds });
}
