/** How the router words an upstream's failure, in answers, details and response flags. */
import type { ResetReason } from '../../stream/codec.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';

export interface ResetTexts {
  /** As in `reset reason: …` of the answer's body. */
  readonly text: string;
  readonly flag: number;
  readonly status: number;
}

const words: Readonly<Record<ResetReason, ResetTexts>> = {
  local_reset: { text: 'local reset', flag: ResponseFlag.localReset, status: 503 },
  remote_reset: { text: 'remote reset', flag: ResponseFlag.upstreamRemoteReset, status: 503 },
  remote_refused_stream: {
    text: 'remote refused stream reset',
    flag: ResponseFlag.upstreamRemoteReset,
    status: 503,
  },
  connection_failure: {
    text: 'remote connection failure',
    flag: ResponseFlag.upstreamConnectionFailure,
    status: 503,
  },
  local_connection_failure: {
    text: 'local connection failure',
    flag: ResponseFlag.upstreamConnectionFailure,
    status: 503,
  },
  connection_timeout: {
    text: 'connection timeout',
    flag: ResponseFlag.upstreamConnectionFailure,
    status: 503,
  },
  connection_termination: {
    text: 'connection termination',
    flag: ResponseFlag.upstreamConnectionTermination,
    status: 503,
  },
  overflow: { text: 'overflow', flag: ResponseFlag.upstreamOverflow, status: 503 },
  no_pool: { text: 'overflow', flag: ResponseFlag.noHealthyUpstream, status: 503 },
  protocol_error: {
    text: 'protocol error',
    flag: ResponseFlag.upstreamProtocolError,
    status: 502,
  },
  drain: { text: 'local reset', flag: ResponseFlag.localReset, status: 503 },
};

export function resetTexts(reason: ResetReason): ResetTexts {
  return words[reason];
}

/** Body of the answer; `isRetried`: this was not the first attempt. */
export function failureBody(reason: ResetReason, isRetried: boolean): string {
  const which = isRetried ? 'retried and the latest reset reason: ' : 'reset reason: ';
  return `upstream connect error or disconnect/reset before headers. ${which}${words[reason].text}`;
}

/** `upstream_reset_before_response_started{connection_termination}`, blanks as underscores. */
export function resetDetails(isStarted: boolean, reason: ResetReason, detail: string): string {
  const moment = isStarted ? 'after' : 'before';
  const inner = detail === '' ? words[reason].text : `${words[reason].text}|${detail}`;
  return `upstream_reset_${moment}_response_started{${inner.replaceAll(' ', '_')}}`;
}
