/** The messages between supervisor and worker that have no answer, by whom they concern. */
import type { SupervisorToWorker } from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerToSupervisor } from '../../shared/messages/worker-to-supervisor.ts';

/** What a worker says unasked of the hosts that it talks to. */
export type UpstreamNotice = Extract<
  WorkerToSupervisor,
  {
    readonly kind:
      | 'health_result'
      | 'outlier_detected'
      | 'load_reported'
      | 'traffic_began'
      | 'host_requested'
      | 'host_wanted'
      | 'host_used'
      | 'routes_wanted'
      | 'health_event';
  }
>;
/** A record for the client of `/tap`, or how many of them there could have been. */
export type TapNotice = Extract<WorkerToSupervisor, { readonly kind: 'tapped' | 'tap_lost' }>;
/** Entries for the clients of access log services. */
export type LogNotice = Extract<WorkerToSupervisor, { readonly kind: 'log_entries' }>;
/** What a worker says unasked. */
export type Notice = UpstreamNotice | TapNotice | LogNotice;
const NOTICES: ReadonlySet<string> = new Set<Notice['kind']>([
  'health_result',
  'outlier_detected',
  'load_reported',
  'traffic_began',
  'host_requested',
  'host_wanted',
  'host_used',
  'routes_wanted',
  'health_event',
  'tapped',
  'tap_lost',
  'log_entries',
]);

export function isNotice(message: WorkerToSupervisor): message is Notice {
  return NOTICES.has(message.kind);
}

/** What a worker is told without an answer. */
export type WorkerNotice = Extract<
  SupervisorToWorker,
  {
    readonly kind:
      | 'set_log_levels'
      | 'reopen_logs'
      | 'drain'
      | 'undrain'
      | 'cut_connections'
      | 'set_health_check_failed'
      | 'set_checking_workers'
      | 'set_tap';
  }
>;
