/**
 * Resolves the watchdogs: how long a worker may be stuck before it is killed, by their timeouts or by
 * an action.
 */
import type {
  Bootstrap,
  Watchdog,
} from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { AbortActionConfig } from '../../../shared/api/generated/envoy/watchdog/v3/abort_action.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr } from '../values.ts';

const FIELDS = knownFields<Watchdog>(
  ['kill_timeout', 'actions'],
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
const MISS_TIMEOUT_MS = 200;
const MEGAMISS_TIMEOUT_MS = 1_000;
/** How long Envoy waits for a thread that it has signalled, before it ends itself. */
const ABORT_WAIT_MS = 5_000;

type WatchdogAction =
  /** The worker is killed so long after the event. */
  { readonly kind: 'abort'; readonly waitMs: number } | { readonly kind: 'profile' };

export const WATCHDOG_ACTIONS = new ExtensionRegistry<WatchdogAction>(
  'envoy.guarddog_actions',
  'watchdog action',
  {
    abort: extension(
      'envoy.watchdog.abort_action',
      'envoy.watchdog.v3.AbortActionConfig',
      ({ wait_duration: wait }: AbortActionConfig) => ({
        kind: 'abort',
        waitMs: durationMsOr(wait, ABORT_WAIT_MS),
      }),
    ),
    profile: extension(
      'envoy.watchdog.profile_action',
      'envoy.extensions.watchdog.profile_action.v3.ProfileActionConfig',
      (_: object, scope) => {
        scope.warning(
          'no_effect',
          'no profile is taken of a worker that is stuck; /cpuprofiler takes one of those that are not',
        );
        return { kind: 'profile' };
      },
    ),
  },
);

/** Milliseconds; 0 is off. The watchdog of the main thread has nothing to watch over here. */
export function resolveWorkerKillTimeout(bootstrap: Bootstrap, scope: Scope): number {
  const { watchdog, watchdogs } = bootstrap;
  if (watchdog !== undefined && watchdogs !== undefined) {
    scope.error('conflict', 'Only one of watchdog or watchdogs should be set!');
  }
  if (watchdogs?.main_thread_watchdog !== undefined) {
    const place = scope.at('watchdogs', 'main_thread_watchdog');
    refuseOtherFields(watchdogs.main_thread_watchdog, FIELDS, place);
    abortTimes(watchdogs.main_thread_watchdog, place);
  }
  const worker = watchdogs?.worker_watchdog ?? watchdog;
  if (worker === undefined) return WORKER_KILL_TIMEOUT_MS;
  const place =
    watchdogs?.worker_watchdog === undefined
      ? scope.at('watchdog')
      : scope.at('watchdogs', 'worker_watchdog');
  refuseOtherFields(worker, FIELDS, place);
  const timeout = durationMsOr(worker.kill_timeout, WORKER_KILL_TIMEOUT_MS);
  const aborts = abortTimes(worker, place);
  return timeout === 0 && aborts.length === 0
    ? 0
    : Math.min(...aborts, ...(timeout === 0 ? [] : [timeout]));
}

/** When each action that aborts would kill a worker which is stuck. */
function abortTimes(worker: Watchdog, scope: Scope): readonly number[] {
  const times: number[] = [];
  for (const [index, { config = {}, event }] of (worker.actions ?? []).entries()) {
    const place = scope.at('actions', index);
    const action = WATCHDOG_ACTIONS.resolve(config, place.at('config'));
    if (action?.kind !== 'abort') continue;
    const eventMs = eventTime(worker, event);
    if (eventMs === undefined) {
      place.warning('no_effect', `workers are watched one by one: ${String(event)} never happens`);
    } else if (eventMs > 0) {
      times.push(eventMs + action.waitMs);
    }
  }
  return times;
}

/** How long a worker is stuck when the event happens; 0: it never does; undefined: not here. */
function eventTime(worker: Watchdog, event: unknown): number | undefined {
  switch (event) {
    case 'MISS':
      return durationMsOr(worker.miss_timeout, MISS_TIMEOUT_MS);
    case 'MEGAMISS':
      return durationMsOr(worker.megamiss_timeout, MEGAMISS_TIMEOUT_MS);
    case 'KILL':
      return durationMsOr(worker.kill_timeout, 0);
    default:
      return undefined;
  }
}
