/** Resolves the watchdogs: how long a worker may be stuck before it is killed. */
import type {
  Bootstrap,
  Watchdog,
} from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr } from '../values.ts';

const FIELDS = knownFields<Watchdog>(
  ['kill_timeout'],
  // Misses are only counted, and a worker is a process: it is killed alone and when it is due.
  [
    'miss_timeout',
    'megamiss_timeout',
    'max_kill_timeout_jitter',
    'multikill_timeout',
    'multikill_threshold',
  ],
);

const WORKER_KILL_TIMEOUT_MS = 30_000;

/** Milliseconds; 0 is off. The watchdog of the main thread has nothing to watch over here. */
export function resolveWorkerKillTimeout(bootstrap: Bootstrap, scope: Scope): number {
  const { watchdog, watchdogs } = bootstrap;
  if (watchdog !== undefined && watchdogs !== undefined) {
    scope.error('conflict', 'Only one of watchdog or watchdogs should be set!');
  }
  if (watchdogs?.main_thread_watchdog !== undefined) {
    const place = scope.at('watchdogs', 'main_thread_watchdog');
    refuseOtherFields(watchdogs.main_thread_watchdog, FIELDS, place);
  }
  const worker = watchdogs?.worker_watchdog ?? watchdog;
  if (worker === undefined) return WORKER_KILL_TIMEOUT_MS;
  const place =
    watchdogs?.worker_watchdog === undefined
      ? scope.at('watchdog')
      : scope.at('watchdogs', 'worker_watchdog');
  refuseOtherFields(worker, FIELDS, place);
  return durationMsOr(worker.kill_timeout, WORKER_KILL_TIMEOUT_MS);
}
