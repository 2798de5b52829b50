/**
 * Network filters in front of a chain's last one that only decide whether a connection may go on. A
 * gated connection stands between the transport and whatever serves it, and steps aside when all
 * have agreed.
 */
import type { StreamInfo } from '../http/stream-info.ts';

export interface Gate {
  /** Asked before the chain's last filter begins its work; false closes the connection. */
  onConnection?(info: StreamInfo): boolean;
  /** Asked before the first bytes are passed on. */
  onFirstBytes?(info: StreamInfo): boolean;
  release(): void;
}
