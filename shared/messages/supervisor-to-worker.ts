/**
 * Messages from the supervisor to a worker. Above each member: when it is sent, the reply, and what
 * happens when it is lost (a channel that breaks ends the worker, so "lost" means: not answered).
 */
import type { CloseOrder, ConnectionQuestion } from '../connections/connections.ts';
import type { AskedRequest } from '../explain/explanation.ts';
import type { TapListenOrder, TapSettings } from '../resources/tap.ts';
import type { ResourceUpdate } from '../resources/resource-update.ts';
import type { BoundAddress } from '../resources/listener.ts';
import type { WatchOrder } from '../logging/watch-order.ts';
import type { LogLevels } from '../logging/log-settings.ts';
import type { QuotaCommand } from './quota-steps.ts';
import type { SharedCommand } from './shared-maps.ts';
import type { ScriptStep } from './script-messages.ts';
import type { Hello, WorkerHeritage } from './heritage.ts';

export type SupervisorToWorker =
  /** Sent first. Reply: the worker's own `hello`. */
  | Hello
  /** Sent second, once. Reply: `ready`. Without it in time the worker is killed and replaced. */
  | { readonly kind: 'start'; readonly heritage: WorkerHeritage }
  /**
   * At start and on every change. With `more` the worker only keeps the updates; the message
   * without it applies all that were kept and its own as one batch. Reply to that one alone:
   * `applied` with the same id; where the id is 0 only when it failed.
   */
  | {
      readonly kind: 'apply';
      readonly id: number;
      readonly updates: readonly ResourceUpdate[];
      readonly more?: true;
    }
  /**
   * `count` descriptors were sent on the descriptor channel just before: one listening socket per
   * address, in this order. Reply: `listening` with the same id.
   */
  | {
      readonly kind: 'adopt_sockets';
      readonly id: number;
      readonly listener: string;
      readonly sockets: readonly AdoptedSocket[];
    }
  /** On each flush and before an admin read. Reply: `stats` with the same id. */
  | { readonly kind: 'flush_stats'; readonly id: number }
  /**
   * Every few seconds. Reply: `pong`. Missed for the watchdog's kill timeout: the worker is killed.
   */
  | { readonly kind: 'ping'; readonly id: number }
  /** `/explain`. Reply: `explained` with the same id. */
  | { readonly kind: 'explain'; readonly id: number; readonly asked: AskedRequest }
  /**
   * `/connections`: begins a list, or goes on with it. Reply: `listed_connections` with the same id.
   */
  | {
      readonly kind: 'list_connections';
      readonly id: number;
      readonly question: ConnectionQuestion;
    }
  | { readonly kind: 'list_further_connections'; readonly id: number; readonly walk: number }
  /** `/connections/close`. Reply: `closing_connections` with the same id. */
  | { readonly kind: 'close_connections'; readonly id: number; readonly order: CloseOrder }
  /** For the home page. Reply: `refusals` with the same id. */
  | { readonly kind: 'recall_refusals'; readonly id: number }
  /** Sampled requests by histogram, for OpenMetrics. Reply: `exemplars`. */
  | { readonly kind: 'recall_exemplars'; readonly id: number }
  /** While a drain is watched. Reply: `connections` with the same id. */
  | { readonly kind: 'count_connections'; readonly id: number }
  /**
   * Stops accepting on these listeners; open connections go on. `takesWaiting`: connections that
   * wait in the sockets are taken first. Reply: `stopped_listening`.
   */
  | {
      readonly kind: 'stop_listening';
      readonly id: number;
      readonly listeners: readonly string[];
      readonly takesWaiting: boolean;
    }
  /**
   * `/cpuprofiler` and `/heapprofiler`. A command with a path writes V8's profile there as JSON: it
   * may be larger than a message. Reply: `profiled` with the same id.
   */
  | {
      readonly kind: 'profile';
      readonly id: number;
      readonly command: ProfileCommand;
      /** Empty for the commands that begin. */
      readonly path: string;
    }
  /** `/filters` and `/filters/reload`. Reply: `scripts` with the same id. */
  | ({ readonly kind: 'scripts'; readonly id: number } & ScriptStep)
  | UnansweredCommand
  /** Ends the worker: logs are flushed, then it exits 0. Reply: the process's end. */
  | { readonly kind: 'shutdown' };

/** What a worker is told without an answer. */
export type UnansweredCommand =
  | { readonly kind: 'set_log_levels'; readonly levels: LogLevels }
  /** `/logging/trace`: the way of these requests is logged; without an order, of none. No reply. */
  | { readonly kind: 'watch_requests'; readonly order?: WatchOrder }
  /** SIGUSR1 and `/reopen_logs`. No reply. */
  | { readonly kind: 'reopen_logs' }
  /**
   * Begins to close connections on request completion; `listeners` absent means all of them.
   * `startedAtNs` is CLOCK_MONOTONIC, so that all workers compute the same share of a drain that
   * takes `drainTimeS` (the option's when absent). Connections without a stream for
   * `closeIdleAfterMs` are closed early; absent: as the option says.
   */
  | {
      readonly kind: 'drain';
      readonly startedAtNs: bigint;
      readonly immediate: boolean;
      readonly listeners?: readonly string[];
      readonly drainTimeS?: number;
      readonly closeIdleAfterMs?: number;
    }
  /** Ends the drain of these listeners; absent means every drain. */
  | { readonly kind: 'undrain'; readonly listeners?: readonly string[] }
  /** The deadline of a drain: cuts what is still open on these listeners. No reply. */
  | { readonly kind: 'cut_connections'; readonly listeners: readonly string[] }
  /** `/healthcheck/fail` and `/healthcheck/ok`. */
  | { readonly kind: 'set_health_check_failed'; readonly failed: boolean }
  /**
   * A client of `/tap` came, or went (without `settings`). Requests of filters with this id are
   * recorded; each record is a `tapped` with the same session. No reply.
   */
  | {
      readonly kind: 'set_tap';
      readonly session: number;
      readonly configId: string;
      readonly settings?: TapSettings;
      /** Records at listeners, in place of filters that wait for the id. */
      readonly listen?: TapListenOrder;
    }
  /** A module held a worker for too long: this version of it is not run any more. No reply. */
  | { readonly kind: 'disable_script'; readonly module: number }
  /** After changes of maps that the worker has. No reply. */
  | SharedCommand
  /** Between workers that share quotas of requests; what is lost is asked for again. No reply. */
  | QuotaCommand
  /**
   * At start and when a worker died or came back: these share the active health checks. No reply.
   */
  | { readonly kind: 'set_checking_workers'; readonly workers: readonly number[] };

export type ProfileCommand =
  | 'start_cpu'
  | 'stop_cpu'
  | 'start_heap'
  | 'read_heap'
  | 'stop_heap'
  | 'start_allocations'
  | 'stop_allocations';

export interface AdoptedSocket {
  readonly address: BoundAddress;
  /** Backlog to hand to `listen`, or Node resets it to 511. */
  readonly backlog: number;
}
