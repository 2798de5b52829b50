/**
 * Network filters in front of a chain's last one that only decide whether a connection may go on. A
 * gated connection stands between the transport and whatever serves it, and steps aside when all
 * have agreed.
 */
import type { StreamInfo } from '../stream/stream-info.ts';

/** Ends a wait: the connection is over. */
export interface Waiting {
  cancel(): void;
}

/**
 * Whether a connection may go on; a number: it is closed after as many milliseconds, unread; a
 * wait: `resume` will say it.
 */
type GateVerdict = boolean | number | Waiting;

/** Called once, later than the question returned. */
export type Resume = (mayPass: boolean) => void;

/** Takes a message off the beginning of what a client sends. */
export interface FirstBytesTaker {
  /** The rest; undefined while more of the message has to come. */
  take(bytes: Buffer): Buffer | undefined;
  /** The client sends nothing more: what was kept is no message. */
  takeLast(): Buffer;
}

export interface NetworkGate {
  /** Asked before the chain's last filter begins its work; false closes the connection. */
  onConnection?(info: StreamInfo, resume: Resume): GateVerdict;
  /**
   * Asked before the first bytes are passed on, or the client's end where it comes first. What
   * comes during a wait is kept.
   */
  onFirstBytes?(info: StreamInfo, resume: Resume): GateVerdict;
  /**
   * Begins with the first bytes, before any gate is asked about them: what it takes of them is its
   * own.
   */
  exchange?(info: StreamInfo, write: (message: Buffer) => void): FirstBytesTaker;
  /** A connection that `onConnection` let pass is over. */
  onEnd?(): void;
  release(): void;
}
