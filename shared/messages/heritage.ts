/** Everything that a worker inherits from the supervisor, in one place. */
import type { Struct } from '../text/dictionary.ts';
import type { LogSettings } from '../logging/log-settings.ts';

/** Raised whenever a message changes its shape. */
export const PROTOCOL_VERSION = 1;

/** File descriptors that a worker finds open. 0 to 2 are inherited as they are. */
export const WORKER_MESSAGE_FD = 3;
/**
 * A unix socket on which descriptors arrive by SCM_RIGHTS, each message with one byte or more: first
 * those of shared memory, before the message `start`.
 */
export const WORKER_DESCRIPTOR_FD = 4;

/** Descriptors of the memory in shared/limits/, in the order in which they travel. */
export interface SharedPages {
  readonly outlierFd: number;
  readonly breakerFd: number;
  readonly rateLimitFd: number;
  readonly scriptFd: number;
}

/** First message in both directions; on a mismatch the worker exits and the supervisor says why. */
export interface Hello {
  readonly kind: 'hello';
  readonly protocolVersion: number;
  /** Identifies the built files: a package upgraded under a running server is noticed. */
  readonly buildId: string;
  readonly pid: number;
}

export interface WorkerHeritage {
  readonly workerIndex: number;
  readonly concurrency: number;
  /** Milliseconds between two writes of an access log's buffer. */
  readonly fileFlushIntervalMs: number;
  readonly fileFlushMinSizeKb: number;
  readonly drainTimeS: number;
  readonly drainStrategy: 'gradual' | 'immediate';
  /** Connections of draining listeners that are idle for this long are closed; absent: never. */
  readonly drainIdleCloseMs?: number;
  readonly log: LogSettings;
  /** `--enable-core-dump`. */
  readonly enableCoreDump: boolean;
  readonly localAddressIpVersion: 'v4' | 'v6';
  /** Base64 of 48 random bytes, the same in all workers: one resumes TLS sessions of another. */
  readonly ticketKeys: string;
  /** The limit for all listeners and workers together; absent: no limit. */
  readonly maxDownstreamConnections?: number;
  /** The node's name, cluster and place, for headers and for choosing hosts of the same zone. */
  readonly node: {
    readonly id: string;
    readonly cluster: string;
    readonly region?: string;
    readonly zone: string;
    readonly subZone?: string;
    readonly metadata: Struct;
  };
  /** The whole node as services are told it: envoy.config.core.v3.Node, encoded. */
  readonly nodeMessage: Uint8Array;
  /** The cluster that this server is one of. */
  readonly localCluster?: string;
}
