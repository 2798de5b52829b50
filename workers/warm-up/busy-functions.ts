/**
 * The functions that every request calls tens of times are the first that the runtime optimises,
 * some forty requests after the first. That takes 1 to 3 ms on a thread which the kernel may put on
 * this thread's processor: one early request waited for it, in every start.
 */
import type { WorkerStatStore } from '../stats/worker-stat-store.ts';
import { HeaderMap } from '../stream/header-map.ts';

/** Past V8's budgets, as `--trace-opt` shows; below 2 ms. */
const ROUNDS = 3_000;
/** The tables of the statistics grow as they do in use; what is optimised before that is undone. */
const STATS = 1_100;
const FIELDS = ['user-agent', 'accept', 'x-request-id', 'x-forwarded-proto', 'content-type'];
const ASKED = ['x-forwarded-proto', 'content-length', 'x-envoy-upstream-service-time'];

/** Calls them until they are optimised; they know by earlier requests what they are called with. */
export function callBusyFunctions(stats: WorkerStatStore): void {
  const headers = new HeaderMap();
  for (const name of FIELDS) headers.add(name, name);
  for (let index = 0; index < STATS; index += 1) stats.increment(stats.defineCounter(`${index}`));
  const last = stats.defineCounter('0');
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of ASKED) headers.get(name);
    for (const _ of ASKED) stats.increment(last);
  }
}
