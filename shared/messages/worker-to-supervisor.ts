/** Messages from a worker to the supervisor; see supervisor-to-worker.ts for what each answers. */
import type { ConnectionPart } from '../connections/connections.ts';
import type { Explanation } from '../explain/explanation.ts';
import type { Exemplar } from './exemplars.ts';
import type { Refusals } from './refusals.ts';
import type { StatsReport } from '../stats/report.ts';
import type { ScriptAnswer } from './script-messages.ts';
import type { Hello } from './heritage.ts';
import type { Notice } from './worker-notices.ts';

export type WorkerToSupervisor =
  /** Sent first, unasked. */
  | Hello
  /** The worker has read its heritage and awaits resources. */
  | { readonly kind: 'ready' }
  /** `error` names what could not be applied; then nothing of the batch was. */
  | { readonly kind: 'applied'; readonly id: number; readonly error?: string }
  | { readonly kind: 'listening'; readonly id: number; readonly error?: string }
  | { readonly kind: 'stopped_listening'; readonly id: number }
  | {
      readonly kind: 'connections';
      readonly id: number;
      readonly listeners: readonly ListenerConnections[];
    }
  /** `error` says why there is no list. */
  | {
      readonly kind: 'listed_connections';
      readonly id: number;
      readonly part?: ConnectionPart;
      readonly error?: string;
    }
  /** How many were chosen; `error` says why none was. */
  | {
      readonly kind: 'closing_connections';
      readonly id: number;
      readonly count?: number;
      readonly error?: string;
    }
  | { readonly kind: 'refusals'; readonly id: number; readonly refusals: Refusals }
  | { readonly kind: 'exemplars'; readonly id: number; readonly exemplars: readonly Exemplar[] }
  /** `error` says why there is no explanation. */
  | {
      readonly kind: 'explained';
      readonly id: number;
      readonly explanation?: Explanation;
      readonly error?: string;
    }
  /** `error` says why there is no profile. */
  | { readonly kind: 'profiled'; readonly id: number; readonly error?: string }
  | ({ readonly kind: 'scripts'; readonly id: number } & ScriptAnswer)
  /** Also sent unasked when a report would grow past its limit. `id` is 0 then. */
  | { readonly kind: 'stats'; readonly id: number; readonly report: StatsReport }
  | { readonly kind: 'pong'; readonly id: number }
  | Notice
  /** A message kind that this build does not know: answered, never thrown on. */
  | { readonly kind: 'not_recognised'; readonly what: string };

/** Open connections of one listener. */
export interface ListenerConnections {
  readonly name: string;
  readonly open: number;
  /** The open ones without a stream. */
  readonly idle: number;
  readonly streams: number;
}
