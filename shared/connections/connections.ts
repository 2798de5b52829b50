/** Open connections of clients as an operator asks for them: what is asked, and what is said of each. */

/** Which connections are meant; what is absent does not matter. */
export interface ConnectionFilter {
  readonly listener?: string;
  /** An IP address, a range such as `10.0.0.0/8`, or `address:port`. */
  readonly client?: string;
  /** What the TLS client calls the server; `*.example.com` means every name below. */
  readonly serverName?: string;
  /** As rows say it, such as `HTTP/2` or `TCP`, whatever the case. */
  readonly protocol?: string;
  readonly route?: string;
  readonly cluster?: string;
  /** `address:port` of the host that a request or the connection is sent to. */
  readonly host?: string;
  readonly olderThanMs?: number;
  readonly idleForMs?: number;
  /** The connection of this worker with this number there. */
  readonly id?: ConnectionId;
}

export interface ConnectionId {
  readonly worker: number;
  readonly connection: number;
}

export const CONNECTION_ORDERS = ['age', 'idle', 'bytes', 'streams'] as const;
/** The largest come first. */
export type ConnectionOrder = (typeof CONNECTION_ORDERS)[number];

export interface ConnectionQuestion {
  readonly filter: ConnectionFilter;
  /** Absent: listener by listener, the oldest first. */
  readonly order?: ConnectionOrder;
  /** Rows at most. */
  readonly limit: number;
}

export interface ConnectionRow {
  /** Unique within the worker. */
  readonly id: number;
  readonly listener: string;
  readonly filterChain: string;
  readonly client: string;
  readonly local: string;
  readonly serverName: string;
  /** Such as `TLSv1.3`; empty without TLS. */
  readonly tls: string;
  /** `HTTP` while the client has not said which version, `TCP` where there are no requests. */
  readonly protocol: string;
  /** The route of the latest request, or of the connection where it has none. */
  readonly route: string;
  readonly cluster: string;
  readonly host: string;
  readonly ageMs: number;
  /** Since when nothing was asked; absent with a request open, and where there are none. */
  readonly idleMs?: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Requests that are open now. */
  readonly streams: number;
  /** The first of them, up to `LISTED_STREAMS_MAX`. */
  readonly requests: readonly RequestRow[];
}

/** An open request. */
export interface RequestRow {
  /** What logs and traces call it; empty where it has none. */
  readonly id: string;
  readonly route: string;
  readonly cluster: string;
  readonly host: string;
  readonly ageMs: number;
}

export const LISTED_STREAMS_MAX = 16;

/** Rows that a worker gives at once; with `more` the same walk has further ones. */
export interface ConnectionPart {
  readonly walk: number;
  readonly rows: readonly ConnectionRow[];
  readonly more: boolean;
}

/** The connections of one worker. */
export interface WorkerConnections {
  readonly worker: number;
  /** The next rows; rejects when the worker does not answer. */
  next(): Promise<ConnectionPart>;
}

/** Closes connections. */
export interface CloseOrder {
  readonly filter: ConnectionFilter;
  /** The share of those that the filter means, from 0 to 100, chosen at random. */
  readonly sharePercent: number;
  /** Each at a random moment of this time. */
  readonly overMs: number;
  /** At once, whatever is open. Otherwise clients are asked to go, as far as the protocol can ask. */
  readonly cuts: boolean;
  /** What was asked to go and is still there after this time is cut; absent: nothing is. */
  readonly cutAfterMs?: number;
}
