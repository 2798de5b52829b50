/** Which worker accepts on which listening sockets: its own, and those of a slot that stays empty. */
import type { ListeningSockets } from '../sockets/listening-sockets.ts';
import type { WorkerSlot } from './worker-slot.ts';

/** Hands out the sockets of listeners that this worker has not; resolves with why it failed. */
export async function adoptSockets(
  slot: WorkerSlot,
  listeners: readonly ListeningSockets[],
): Promise<string | undefined> {
  for (const sockets of listeners) {
    if (slot.adopted.has(sockets.listener)) continue;
    slot.adopted.add(sockets.listener);
    const handed = sockets.socketsOf(slot.index);
    const failure = await slot.host.adoptSockets(sockets.listener, handed);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/**
 * Connections would wait in the sockets of a slot that stays empty, so another worker accepts on
 * them too, from then on for as long as it lives. False when no other worker runs.
 */
export async function lendSockets(
  slot: WorkerSlot,
  slots: readonly WorkerSlot[],
  listeners: readonly ListeningSockets[],
  log: (text: string) => void,
): Promise<boolean> {
  const helper = slots.find(({ state }) => state === 'running')?.host;
  if (helper === undefined) return false;
  if (slot.helper === helper) return true;
  slot.helper = helper;
  for (const sockets of listeners) {
    const own = sockets.socketsOf(helper.workerIndex).map(({ fd }) => fd);
    const lent = sockets.socketsOf(slot.index).filter(({ fd }) => !own.includes(fd));
    if (lent.length === 0) continue;
    // A helper that ends meanwhile is replaced; the next failure finds another one.
    await helper.adoptSockets(sockets.listener, lent).catch(() => undefined);
  }
  log(`worker ${helper.workerIndex} accepts for worker ${slot.index} too`);
  return true;
}
