/** The last requests that a worker refused or that found no route: what the home page names. */

export interface RefusedRequest {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly status: number;
  readonly authority: string;
  /** Without its query, cut at a limit. */
  readonly path: string;
}

export interface Refusals {
  /** The last one that was answered with 4xx. */
  readonly clientError?: RefusedRequest;
  /** The last one for which no route was there. */
  readonly unrouted?: RefusedRequest;
}
