/** What a stream of a client's connection asks of its codec. */
import type { TimerList } from '../loop/timers.ts';
import type { Http2Stats } from './codec-stats.ts';
import type { MessageFields } from './message-fields.ts';
import type { Http2Session } from './session.ts';

export interface ServerStreamOwner {
  readonly session: Http2Session;
  readonly stats: Http2Stats;
  /** The fields of the block that came last. */
  readonly fields: MessageFields;
  readonly endsStreamOnInvalidMessage: boolean;
  /** How long an answer may wait for a client that does not read; undefined: for ever. */
  readonly flushTimeout: TimerList | undefined;
  onPartsDropped(count: number): void;
  /** Called once per stream. `isPremature`: the client reset it before an answer began. */
  noteStreamEnd(stream: { readonly openedMs: number }, isPremature: boolean): void;
  /** The connection may have become idle, or the last stream of its drain is over. */
  onStreamOver(): void;
}
