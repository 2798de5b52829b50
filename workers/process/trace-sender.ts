/**
 * Sends the records for the client of `/tap` to the supervisor, and says how many it could not
 * send. A reader that does not keep up loses records; requests never wait for it.
 */
import { TAP_RECORD_BYTES_MAX } from '../../shared/resources/tap.ts';
import type { TapNotice } from '../../shared/messages/worker-notices.ts';

export interface TraceChannel {
  readonly isCongested: boolean;
  post(notice: TapNotice): void;
}

export class TraceSender {
  readonly #channel: TraceChannel;
  #session = 0;
  /** Records of the session that found the channel congested and were not told of yet. */
  #lost = 0;

  constructor(channel: TraceChannel) {
    this.#channel = channel;
  }

  send(session: number, trace: Uint8Array): void {
    if (this.#session !== session) {
      this.#session = session;
      this.#lost = 0;
    }
    if (this.#channel.isCongested) {
      this.#lost += 1;
      return;
    }
    if (this.#lost > 0) {
      this.#channel.post({ kind: 'tap_lost', session, records: this.#lost, why: 'too_slow' });
      this.#lost = 0;
    }
    if (trace.length <= TAP_RECORD_BYTES_MAX)
      this.#channel.post({ kind: 'tapped', session, trace });
    else this.#channel.post({ kind: 'tap_lost', session, records: 1, why: 'too_large' });
  }
}
