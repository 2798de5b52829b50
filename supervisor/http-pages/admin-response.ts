/** What a page of the admin interface answers. Types only. */

/**
 * A finished answer of an endpoint. A streamed body is pulled chunk by chunk with back-pressure.
 */
export interface AdminResponse {
  readonly status: number;
  /** `text/plain; charset=UTF-8` when absent. */
  readonly contentType?: string;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body: AdminBody;
  /** Lasts until the client goes: no limit on the time of the whole answer. */
  readonly isEndless?: boolean;
  /** Compressed while it is sent, which costs more time than making the page. */
  readonly isGzipped?: boolean;
}

/**
 * What is computed is iterable: every step is short, and an empty text is a place to pause at. What
 * comes asynchronously are events.
 */
export type AdminBody =
  | string
  | Uint8Array
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>;
