/**
 * One bound datagram socket of an epoch: sends messages to the other epoch's sockets and hands out
 * those that arrive. It neither waits for replies nor knows what a message asks for.
 */
import { chmodSync, unlinkSync } from 'node:fs';
import type { Clock } from '../../shared/clock.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import {
  receiveDescriptorMessage,
  sendDescriptorMessage,
} from '../../shared/posix/descriptor-messages.ts';
import { SOCK_DGRAM } from '../../shared/posix/layout.ts';
import { PosixError } from '../../shared/posix/posix-error.ts';
import type { UnixSocketAddress } from '../../shared/posix/socket-address.ts';
import { bindSocket, openSocket } from '../../shared/posix/sockets.ts';
import { cutIntoDatagrams, DatagramJoiner, DatagramStreamError } from './datagram-stream.ts';
import {
  decodeHotRestartMessage,
  encodeHotRestartMessage,
  type HotRestartMessage,
} from './hot-restart-message.ts';
import { watchReadable } from './readiness.ts';

/** How long a full queue of the receiver is waited for, in all; it reads within milliseconds. */
const SEND_LIMIT_MS = 5_000;
const SEND_RETRY_MS = 2;

export interface EndpointHandlers {
  /** The receiver owns the descriptors. */
  message(message: HotRestartMessage, descriptors: readonly number[]): void;
  /** Bytes that are no message; they were thrown away. */
  malformed(reason: string): void;
}

export class Endpoint {
  readonly address: UnixSocketAddress;
  readonly #fd: number;
  readonly #clock: Clock;
  readonly #handlers: EndpointHandlers;
  readonly #joiner = new DatagramJoiner();
  readonly #unwatch: () => void;
  #sending: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(fd: number, address: UnixSocketAddress, options: EndpointOptions) {
    this.#fd = fd;
    this.address = address;
    this.#clock = options.clock;
    this.#handlers = options.handlers;
    this.#unwatch = watchReadable(fd, () => this.#readUntilEmpty());
  }

  /**
   * Binds the socket. A file left behind by a process that is gone is replaced. Throws `PosixError`
   * with EADDRINUSE when a living process holds the name.
   */
  static bind(address: UnixSocketAddress, options: EndpointOptions): Endpoint {
    const fd = openSocket(address, SOCK_DGRAM);
    try {
      const isAbstract = address.path.startsWith('@');
      if (!isAbstract) removeStaleFile(fd, address);
      bindSocket(fd, address);
      if (!isAbstract) chmodSync(address.path, options.socketMode);
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
    const datagrams = cutIntoDatagrams(encodeHotRestartMessage(message));
    const sent = this.#sending.then(() => this.#sendAll(to, datagrams, descriptors));
    // The next message goes out whatever became of this one; the caller is told through `sent`.
    this.#sending = sent.catch(() => undefined);
    return sent;
  }

  /** Removes the socket's file, too. Nothing is handed out afterwards. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unwatch();
    closeDescriptor(this.#fd);
    if (!this.address.path.startsWith('@')) unlinkIfThere(this.address.path);
  }

  async #sendAll(
    to: UnixSocketAddress,
    datagrams: readonly Buffer[],
    descriptors: readonly number[],
  ): Promise<void> {
    const deadline = this.#clock.monotonicMs() + SEND_LIMIT_MS;
    for (const [index, datagram] of datagrams.entries()) {
      const passed = index === 0 ? descriptors : [];
      while (!this.#isClosed && !sendDescriptorMessage(this.#fd, datagram, passed, to)) {
        if (this.#clock.monotonicMs() > deadline) {
          throw new PosixError('EAGAIN', 11, 'sendmsg', 'the other epoch does not read');
        }
        await new Promise<void>((resolve) => this.#clock.after(SEND_RETRY_MS, resolve));
      }
    }
  }

  #readUntilEmpty(): void {
    while (!this.#isClosed) {
      const datagram = receiveDescriptorMessage(this.#fd);
      if (datagram === undefined) return;
      this.#take(datagram.data, datagram.descriptors);
    }
  }

  #take(data: Buffer, descriptors: readonly number[]): void {
    let message: HotRestartMessage | undefined;
    try {
      const bytes = this.#joiner.push(data);
      message = bytes === undefined ? undefined : decodeHotRestartMessage(bytes);
    } catch (error) {
      if (!(error instanceof DatagramStreamError || error instanceof RangeError)) throw error;
      descriptors.forEach(closeDescriptor);
      this.#handlers.malformed(error.message);
      return;
    }
    if (message !== undefined) this.#handlers.message(message, descriptors);
    else descriptors.forEach(closeDescriptor);
  }
}

export interface EndpointOptions {
  readonly clock: Clock;
  readonly handlers: EndpointHandlers;
  /** Permissions of a socket in the file system. */
  readonly socketMode: number;
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
