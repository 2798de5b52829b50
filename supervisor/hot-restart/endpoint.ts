/**
 * One bound datagram socket of an epoch: sends messages to the other epoch's sockets and hands out
 * those that arrive. It neither waits for replies nor knows what a message asks for.
 */
import { chmodSync, unlinkSync } from 'node:fs';
import type { Clock } from '../../shared/process/clock.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import { sendDescriptorMessage } from '../../shared/posix/descriptor-messages.ts';
import { SOCK_DGRAM, SO_PASSCRED, SOL_SOCKET } from '../../shared/posix/layout.ts';
import { PosixError } from '../../shared/posix/posix-error.ts';
import type { UnixSocketAddress } from '../../shared/posix/socket-address.ts';
import { bindSocket, openSocket, setSocketOption } from '../../shared/posix/sockets.ts';
import { DatagramReader, type ReceivedDatagram } from './datagram-reader.ts';
import { cutIntoDatagrams, DatagramJoiners } from './datagram-stream.ts';
import { decodeHotRestartMessage, encodeHotRestartMessage } from './hot-restart-codec.ts';
import type { HotRestartMessage } from './hot-restart-message.ts';

/** How long a full queue of the receiver is waited for, in all; it reads within milliseconds. */
const SEND_LIMIT_MS = 5_000;
const SEND_RETRY_MS = 2;

/** Messages that wait for a receiver which does not read. */
const SENDS_MAX = 64;
const ROOT_UID = 0;

export interface EndpointHandlers {
  /** Descriptors that are not taken before it returns are closed. */
  message(message: HotRestartMessage, takeDescriptors: () => readonly number[]): void;
  /** What was thrown away because it is no message. */
  malformed(reason: string): void;
  /** A process of another user sent something, which was thrown away unread. */
  stranger(uid: number | undefined, pid: number | undefined): void;
}

export class Endpoint {
  readonly address: UnixSocketAddress;
  readonly #fd: number;
  readonly #clock: Clock;
  readonly #handlers: EndpointHandlers;
  readonly #joiners: DatagramJoiners;
  readonly #reader: DatagramReader;
  #sending: Promise<void> = Promise.resolve();
  #sendsWaiting = 0;
  #isClosed = false;

  private constructor(fd: number, address: UnixSocketAddress, options: EndpointOptions) {
    const { clock, handlers, messageBytesMax, peer } = options;
    this.#fd = fd;
    this.address = address;
    this.#clock = clock;
    this.#handlers = handlers;
    this.#joiners = new DatagramJoiners(messageBytesMax);
    this.#reader = new DatagramReader({
      fd,
      clock,
      peer,
      // A socket in the file system has permissions, which the operator chose.
      mayCommand: isAbstract(address) ? mayCommand : undefined,
      datagram: (datagram) => this.#take(datagram),
      malformed: (reason) => handlers.malformed(reason),
      stranger: (uid, pid) => handlers.stranger(uid, pid),
    });
  }

  /**
   * Binds the socket. A file left behind by a process that is gone is replaced. Throws `PosixError`
   * with EADDRINUSE when a living process holds the name.
   */
  static bind(address: UnixSocketAddress, options: EndpointOptions): Endpoint {
    const fd = openSocket(address, SOCK_DGRAM);
    try {
      if (!isAbstract(address)) removeStaleFile(fd, address);
      // Before anybody can send: the kernel notes a sender only where it is asked to. Not before
      // the stale file is looked at: a socket that sends with this option gets a name by itself.
      setSocketOption(fd, SOL_SOCKET, SO_PASSCRED, 1);
      bindSocket(fd, address);
      if (!isAbstract(address)) chmodSync(address.path, options.socketMode);
      return new Endpoint(fd, address, options);
    } catch (error) {
      closeDescriptor(fd);
      throw error;
    }
  }

  /**
   * Sends one message whole, after those sent before. Rejects with `PosixError`: ECONNREFUSED or
   * ENOENT when nobody holds the name, EAGAIN when the receiver stopped reading.
   */
  send(
    to: UnixSocketAddress,
    message: Exclude<HotRestartMessage, { kind: 'unknown' }>,
    descriptors: readonly number[] = [],
  ): Promise<void> {
    if (this.#sendsWaiting >= SENDS_MAX) return Promise.reject(notRead());
    this.#sendsWaiting += 1;
    const datagrams = cutIntoDatagrams(encodeHotRestartMessage(message));
    const sent = this.#sending.then(() => this.#sendAll(to, datagrams, descriptors));
    const done = (): void => void (this.#sendsWaiting -= 1);
    // The next message goes out whatever became of this one; the caller is told through `sent`.
    this.#sending = sent.then(done, done);
    return sent;
  }

  /** Removes the socket's file, too. Nothing is handed out afterwards. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reader.close();
    closeDescriptor(this.#fd);
    if (!isAbstract(this.address)) unlinkIfThere(this.address.path);
  }

  async #sendAll(
    to: UnixSocketAddress,
    datagrams: readonly Buffer[],
    descriptors: readonly number[],
  ): Promise<void> {
    const deadline = this.#clock.monotonicMs() + SEND_LIMIT_MS;
    for (const [index, datagram] of datagrams.entries()) {
      const passed = index === 0 ? descriptors : [];
      while (!this.#isClosed && !sendNow(this.#fd, datagram, passed, to)) {
        if (this.#clock.monotonicMs() > deadline) throw notRead();
        await new Promise<void>((resolve) => this.#clock.after(SEND_RETRY_MS, resolve));
      }
    }
  }

  #take({ data, sender, takeDescriptors }: ReceivedDatagram): void {
    const bytes = this.#joiners.push(sender, data);
    if (bytes === undefined) return;
    this.#handlers.message(decodeHotRestartMessage(bytes), takeDescriptors);
  }
}

export interface EndpointOptions {
  readonly clock: Clock;
  readonly handlers: EndpointHandlers;
  /** Permissions of a socket in the file system. */
  readonly socketMode: number;
  /** A message that says that it is longer is none. */
  readonly messageBytesMax: number;
  /** The other epoch's socket; absent where none has reason to send. */
  readonly peer?: UnixSocketAddress;
}

/** An abstract name has no permissions: only our own user's processes and root's may command. */
function mayCommand(uid: number): boolean {
  return uid === ROOT_UID || uid === process.getuid?.() || uid === process.geteuid?.();
}

function isAbstract({ path }: UnixSocketAddress): boolean {
  return path.startsWith('@');
}

function notRead(): PosixError {
  return new PosixError('EAGAIN', 11, 'sendmsg', 'the other epoch does not read');
}

/** False where the receiver has no room, or hears somebody else who may be gone already. */
function sendNow(
  fd: number,
  datagram: Buffer,
  descriptors: readonly number[],
  to: UnixSocketAddress,
): boolean {
  try {
    return sendDescriptorMessage(fd, datagram, descriptors, to);
  } catch (error) {
    if (error instanceof PosixError && error.code === 'EPERM') return false;
    throw error;
  }
}

/** A datagram without data finds out who listens: a stale file refuses it. */
function removeStaleFile(fd: number, address: UnixSocketAddress): void {
  try {
    sendDescriptorMessage(fd, Buffer.alloc(0), [], address);
  } catch (error) {
    if (!(error instanceof PosixError)) throw error;
    if (error.code === 'ENOENT') return;
    if (error.code !== 'ECONNREFUSED') throw error;
    unlinkIfThere(address.path);
    return;
  }
  throw new PosixError('EADDRINUSE', 98, 'bind', 'Address already in use');
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
