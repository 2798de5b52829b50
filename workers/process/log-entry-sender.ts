/**
 * Sends entries of log services to the supervisor. A supervisor that does not keep up loses
 * entries; requests never wait for it.
 */
import type { WorkerToSupervisor } from '../../shared/messages/worker-to-supervisor.ts';

type LogEntries = Extract<WorkerToSupervisor, { readonly kind: 'log_entries' }>;

export interface LogChannel {
  readonly isCongested: boolean;
  post(message: WorkerToSupervisor): void;
}

export class LogEntrySender {
  readonly #channel: LogChannel;
  #dropped = 0;

  constructor(channel: LogChannel) {
    this.#channel = channel;
  }

  send(notice: LogEntries): void {
    if (this.#channel.isCongested) {
      this.#dropped += notice.entries.length;
      return;
    }
    this.#channel.post({ ...notice, dropped: notice.dropped + this.#dropped });
    this.#dropped = 0;
  }
}
