/**
 * The seam between a client's connection and its way to a host: a connection, or a tunnel in a
 * request.
 */
import type { SharedValue } from '../net/mesh/shared-state.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import type { ConnectionFacts } from '../upstream/pools/connection-facts.ts';

/** Why a way to a host came to its end, or never began. */
export type UpstreamEnd =
  /** Both directions ended in order. */
  | { readonly kind: 'finished' }
  | { readonly kind: 'broken'; readonly isReset: boolean }
  /** A limit was in the way before the host was involved. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'connect_failed'; readonly detail: string; readonly isTimeout: boolean };

export interface UpstreamOwner {
  /** The client that the host is told of, where it wants to know. */
  readonly downstreamInfo: ConnectionInfo;
  /** What a listener inside is told of the client; absent: what is kept of its connection. */
  sharedState?(): readonly SharedValue[] | undefined;
  onUpstreamReady(): void;
  /** Valid during the call only. */
  onUpstreamData(input: Buffer, start: number, end: number): void;
  /** The host will send nothing more. */
  onUpstreamHalfClose(): void;
  onUpstreamWriteBlocked(blocked: boolean): void;
  /** Nothing follows. Not called after `close` or `reset`. */
  onUpstreamEnd(end: UpstreamEnd): void;
}

export interface ProxiedUpstream {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  /** Undefined until there is one. */
  readonly connection: ConnectionFacts | undefined;
  /** Bytes that were written and that the kernel has not taken yet. */
  readonly pendingBytes: number;
  /** Begins; the owner may hear of its end before this returns. */
  start(): void;
  /** The bytes are copied before the call returns. */
  writeData(data: Buffer): void;
  /** Counted: reading goes on when every `true` has had its `false`. */
  pauseReading(paused: boolean): void;
  /** Sends what is left and then the end of this direction. */
  endWriting(): void;
  /** Closes at once from this side. */
  close(): void;
  /** As `close`, with a reset: the client's connection broke. */
  reset(): void;
}
