/**
 * The control plane of `xds-changes.ts` and the server under it, in a process that gives way to the
 * others: a control plane is on another machine, and what it computes must not count as the
 * server's. Argument: what to start (`sluice` or `envoy`), how many clusters. Speaks by messages,
 * `Said` and `Asked`.
 */
import { setPriority } from 'node:os';
import { keepChanging, route } from './xds-change-load.ts';
import { programs, startFleet } from './xds-fleet.ts';

export type Asked =
  | { readonly begin: { readonly perSecond: number; readonly isOfAll: boolean } }
  | 'end';

export type Said =
  /** Traffic goes through; the process that was started. */
  | { readonly port: number; readonly pid: number }
  /** So many changes were sent since `begin`. */
  | { readonly sent: number };

const LOW_PRIORITY = 10;

const [, , name, count] = process.argv;
const clusters = Number(count);
const program = programs().find((each) => each.name === name);
if (program === undefined) throw new Error(`there is no ${name}`);
const fleet = await startFleet(program, clusters);
const port = await route(fleet);
setPriority(LOW_PRIORITY);

let changes: ReturnType<typeof keepChanging> | undefined;
process.on('message', (asked: Asked) => {
  if (asked !== 'end') {
    changes = keepChanging(fleet.control, { ...asked.begin, clusters });
    return;
  }
  void changes?.stop().then((sent) => say({ sent }));
});
process.once('disconnect', () => void fleet[Symbol.asyncDispose]());
say({ port, pid: fleet.pid });

function say(said: Said): void {
  process.send?.(said);
}
