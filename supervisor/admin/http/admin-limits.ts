/** Every limit of the admin listener, in one place. */
export interface AdminLimits {
  /** Connections; beyond this the one that is idle for longest gives way. */
  readonly connections: number;
  /** Further ones where none is idle: they get small answers only. Beyond: 503, and closed. */
  readonly reservedConnections: number;
  /** Requests of one HTTP/1.1 connection that wait for the one before; then it is not read on. */
  readonly pipelinedRequests: number;
  /** HTTP/2 streams open at the same time on one connection. */
  readonly streamsPerConnection: number;
  /** Header fields of one request, as Envoy counts them; beyond: 431. */
  readonly headerFields: number;
  /** Bytes of the request line and all header fields; beyond: 431. */
  readonly headerBytes: number;
  /** Bytes of a request body; beyond: 413. */
  readonly bodyBytes: number;
  /** Bytes of all bodies that are being received; beyond: 503. */
  readonly allBodyBytes: number;
  /** Large pages made at the same time; more wait. */
  readonly largePages: number;
  /** Large pages that wait for their turn; beyond: 503. */
  readonly waitingLargePages: number;
  /**
   * Milliseconds for which a client may keep a large page waiting before the page gives its place
   * away.
   */
  readonly parkAfterMs: number;
  /**
   * Large pages without a place; beyond, the client that has kept its page waiting longest is
   * closed.
   */
  readonly parkedPages: number;
  /** Milliseconds a large page waits for its turn; then 503. */
  readonly largePageWaitMs: number;
  /** Milliseconds in which a client must take what was sent; then its connection is closed. */
  readonly stalledReaderMs: number;
  /** Milliseconds for a whole answer, however the client reads. */
  readonly answerMs: number;
  /** Milliseconds for a request's headers; then 408. */
  readonly headersMs: number;
  /** Milliseconds for a request with its body; then 408. */
  readonly requestMs: number;
  /** Milliseconds a connection may be idle between requests. */
  readonly idleMs: number;
}

export const ADMIN_LIMITS: AdminLimits = {
  connections: 1024,
  reservedConnections: 64,
  pipelinedRequests: 100,
  streamsPerConnection: 100,
  headerFields: 100,
  headerBytes: 60 * 1024,
  bodyBytes: 1024 * 1024,
  allBodyBytes: 32 * 1024 * 1024,
  largePages: 4,
  waitingLargePages: 512,
  parkAfterMs: 1000,
  parkedPages: 64,
  largePageWaitMs: 30_000,
  stalledReaderMs: 30_000,
  answerMs: 600_000,
  headersMs: 60_000,
  requestMs: 120_000,
  idleMs: 3_600_000,
};

/**
 * One in so many of the descriptors that the process may have may be a connection of the admin's.
 */
const DESCRIPTORS_PER_CONNECTION = 4;

/**
 * The limits of a process that may have so many open files: admin clients must not take them
 * all.
 */
export function limitsWithin(openFiles: number, limits = ADMIN_LIMITS): AdminLimits {
  const most = Math.max(1, Math.floor(openFiles / DESCRIPTORS_PER_CONNECTION));
  const { connections, reservedConnections } = limits;
  return {
    ...limits,
    connections: Math.min(connections, most),
    reservedConnections: Math.min(reservedConnections, most),
  };
}
