/**
 * Hostile peers in a process of their own, with the lowest priority, so that they take no time from
 * the load and the upstream on their core. Arguments: the proxy's port, connections per second. Its
 * parent hears `{ upstreamPort, titles }` first, then sends the title of an attack, which goes on
 * until it sends an empty one and is told `{ isOver: true }`.
 */
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import {
  abandonResponses,
  abortRequestsEverywhere,
  flood,
  meetAbortedResponses,
  stall,
  startHostileUpstream,
} from '../../test/support/peers/hostile/hostile-peers.ts';

const FLOOD_CONNECTIONS = 300;
const [port = 0, perSecond = 0] = process.argv.slice(2).map(Number);
const spacingMs = 1000 / perSecond;
const attacks: Readonly<Record<string, () => Promise<void>>> = {
  'requests cut anywhere': () => abortRequestsEverywhere(port, 'reset', spacingMs),
  'responses cut anywhere': () => meetAbortedResponses(port, 'reset', spacingMs),
  'responses left alone': () => abandonResponses(port, 'reset', spacingMs),
  'stalled heads, bodies, reads': () => stall(port),
  floods: () => flood(port, FLOOD_CONNECTIONS, spacingMs),
};
let wanted = '';

setPriority(constants.priority.PRIORITY_LOW);
process.on('disconnect', () => process.exit());
process.on('message', (title: string) => {
  wanted = title;
  if (title !== '') void attack(title);
});
const { port: upstreamPort } = await startHostileUpstream();
process.send?.({ upstreamPort, titles: Object.keys(attacks) });

async function attack(title: string): Promise<void> {
  while (wanted === title) {
    await attacks[title]?.();
    await delay(spacingMs);
  }
  process.send?.({ isOver: true });
}
