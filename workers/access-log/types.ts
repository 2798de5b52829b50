/**
 * What the connection manager knows of access logs: one call per stream, when it is over. Compiled
 * once per configured log (`openAccessLogs` in access-logs.ts); writing is buffered and never
 * waits.
 */
import type { StreamInfo } from '../stream/stream-info.ts';

export interface AccessLog {
  /** Formats and buffers one line; filters decide first. Never throws. */
  log(info: StreamInfo): void;
}
