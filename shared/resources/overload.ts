/** How much of their work workers are to refuse now, as the supervisor's monitors found it. */
export interface OverloadState {
  /** Share of new requests that are answered with 503; each of these is from 0 to 1. */
  readonly refusedRequests: number;
  /** Share of answers that end their HTTP/1 connection. */
  readonly endedKeepalives: number;
  /** Share of new connections that are closed at once. */
  readonly rejectedConnections: number;
}

export const CALM: OverloadState = {
  refusedRequests: 0,
  endedKeepalives: 0,
  rejectedConnections: 0,
};
