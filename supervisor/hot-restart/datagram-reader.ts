/**
 * Reads one datagram socket that any local process may send to, if it is in the abstract namespace.
 * It drops what other users send, closes every descriptor that nobody takes, and reads in slices,
 * so that no sender holds the loop. It knows nothing of messages.
 */
import { errorText } from '../../shared/text/error-text.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import {
  receiveDescriptorMessage,
  type DescriptorMessage,
} from '../../shared/posix/descriptor-messages.ts';
import type { UnixSocketAddress } from '../../shared/posix/socket-address.ts';
import { hearEverybody, hearOnly } from '../../shared/posix/sockets.ts';
import { watchReadable } from './readiness.ts';

/**
 * One turn of the loop reads no more: a fraction of a millisecond. The rest follows in the next
 * turn.
 */
const DATAGRAMS_PER_TURN_MAX = 64;
/** What other users may make this process read in each window: about a twentieth of its time. */
const STRANGERS_PER_WINDOW_MAX = 16;
const WINDOW_MS = 10;
/** How often it is looked whether the only one who is heard is still there. */
const ALONE_PERIOD_MS = 50;

export interface ReceivedDatagram {
  readonly data: Buffer;
  /** Tells senders apart. */
  readonly sender: string;
  /** The caller owns them. */
  readonly takeDescriptors: () => readonly number[];
}

export interface DatagramReaderOptions {
  readonly fd: number;
  readonly clock: Clock;
  /** Undefined where the permissions of a file decide. */
  readonly mayCommand?: ((uid: number) => boolean) | undefined;
  /** The only one with reason to send here, if it is known. */
  readonly peer?: UnixSocketAddress | undefined;
  /** Descriptors that are not taken before it returns are closed. */
  readonly datagram: (datagram: ReceivedDatagram) => void;
  /** A process of another user sent something, which was thrown away. */
  readonly stranger: (uid: number | undefined, pid: number | undefined) => void;
  readonly malformed: (reason: string) => void;
}

export class DatagramReader {
  readonly #options: DatagramReaderOptions;
  readonly #unwatch: () => void;
  #windowEndsMs = 0;
  #strangersInWindow = 0;
  /** Reading goes on at a later time, whatever the kernel says until then. */
  #isResting = false;
  #restTimer: Timer | undefined;
  /** While only the peer is heard. */
  #aloneTimer: Timer | undefined;
  #isClosed = false;

  /** Reads what is there already before it returns. */
  constructor(options: DatagramReaderOptions) {
    this.#options = options;
    this.#unwatch = watchReadable(options.fd, () => this.#readSome());
  }

  /** Nothing is handed out afterwards. The socket stays open. */
  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    this.#restTimer?.cancel();
    this.#aloneTimer?.cancel();
  }

  #readSome(): void {
    for (let count = 0; !this.#isResting && !this.#isClosed; count += 1) {
      if (count === DATAGRAMS_PER_TURN_MAX) return this.#rest(0);
      if (!this.#readOne()) return;
    }
  }

  /** False when nothing is left. */
  #readOne(): boolean {
    let message: DescriptorMessage | undefined;
    try {
      message = receiveDescriptorMessage(this.#options.fd);
    } catch (error) {
      // Such as the end of a peer that heard only us: it is told once, and what waits stays there.
      this.#options.malformed(errorText(error));
      this.#rest(WINDOW_MS);
      return true;
    }
    if (message === undefined) return false;
    this.#take(message);
    return true;
  }

  #take(message: DescriptorMessage): void {
    const { data, descriptors, isCut, sender, from } = message;
    const { mayCommand, datagram, stranger, malformed } = this.#options;
    let untaken = descriptors;
    try {
      if (mayCommand !== undefined && (sender === undefined || !mayCommand(sender.uid))) {
        stranger(sender?.uid, sender?.pid);
        return this.#countStranger();
      }
      if (isCut) return malformed('bytes or descriptors of a datagram did not arrive');
      datagram({
        data,
        sender: `${sender?.pid} ${from?.kind === 'pipe' ? from.path : ''}`,
        takeDescriptors: () => {
          untaken = [];
          return descriptors;
        },
      });
    } catch (error) {
      malformed(errorText(error));
    } finally {
      untaken.forEach(closeDescriptor);
    }
  }

  /** A flood of other users' datagrams: they wait in their own processes until the window ends. */
  #countStranger(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs >= this.#windowEndsMs) {
      this.#windowEndsMs = nowMs + WINDOW_MS;
      this.#strangersInWindow = 0;
    }
    this.#strangersInWindow += 1;
    if (this.#strangersInWindow < STRANGERS_PER_WINDOW_MAX) return;
    this.#hearPeerOnly();
    this.#rest(this.#windowEndsMs - nowMs);
  }

  #rest(delayMs: number): void {
    const resume = (): void => {
      this.#isResting = false;
      this.#readSome();
    };
    this.#isResting = true;
    this.#restTimer = this.#options.clock.after(delayMs, resume);
  }

  /**
   * The queue of a flooded socket has no room for the peer. The kernel makes room, and refuses the
   * others, as soon as the peer is there.
   */
  #hearPeerOnly(): void {
    const { fd, peer, clock } = this.#options;
    if (peer === undefined || this.#aloneTimer !== undefined || !hearOnly(fd, peer)) return;
    this.#aloneTimer = clock.every(
      ALONE_PERIOD_MS,
      () => {
        // It may have ended, or another process may have its name now.
        if (hearOnly(fd, peer) || !hearEverybody(fd)) return;
        this.#aloneTimer?.cancel();
        this.#aloneTimer = undefined;
      },
      { unref: true },
    );
  }
}
