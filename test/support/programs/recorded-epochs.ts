/** What two Envoy processes said to each other in one hot restart, datagram by datagram. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeDescriptor } from '../../../shared/posix/descriptors.ts';
import {
  receiveDescriptorMessage,
  sendDescriptorMessage,
  type DescriptorMessage,
} from '../../../shared/posix/descriptor-messages.ts';
import { SOCK_DGRAM } from '../../../shared/posix/layout.ts';
import type { UnixSocketAddress } from '../../../shared/posix/socket-address.ts';
import { bindSocket, openSocket } from '../../../shared/posix/sockets.ts';
import { waitUntil } from '../wait.ts';

/** Where the recorded servers listen: an address that nothing else uses. */
export const RECORDED_LISTENER = { address: '127.83.17.25', port: 15_990 } as const;

export interface RecordedDatagram {
  readonly from: 'parent' | 'child';
  readonly base64: string;
  /** How many descriptors came with it. */
  readonly descriptors: number;
}

export interface Recording {
  /** What `envoy --version` says, without what is of a machine. */
  readonly version: string;
  /** The shared memory object as the parent left it when it was live. */
  readonly sharedMemoryBase64: string;
  readonly datagrams: readonly RecordedDatagram[];
}

export const RECORDING_PATH = join(
  import.meta.dirname,
  '../../../../test/integration/hot-restart/recorded-envoy.json',
);

export function readRecording(): Recording {
  return JSON.parse(readFileSync(RECORDING_PATH, 'utf8')) as Recording;
}

/** Plays one recorded process: its sockets, and the shared memory where it is the first. */
export class RecordedEnd {
  readonly #fd: number;
  readonly #to: UnixSocketAddress;

  constructor(own: UnixSocketAddress, to: UnixSocketAddress) {
    this.#fd = openSocket(own, SOCK_DGRAM);
    bindSocket(this.#fd, own);
    this.#to = to;
  }

  async send({ base64 }: RecordedDatagram, descriptors: readonly number[] = []): Promise<void> {
    const data = Buffer.from(base64, 'base64');
    await waitUntil('room for a datagram', () =>
      sendDescriptorMessage(this.#fd, data, descriptors, this.#to),
    );
  }

  async receive(): Promise<DescriptorMessage> {
    return await waitUntil('a datagram', () => receiveDescriptorMessage(this.#fd));
  }

  /** Undefined where none has come. */
  receiveNow(): DescriptorMessage | undefined {
    return receiveDescriptorMessage(this.#fd);
  }

  close(): void {
    closeDescriptor(this.#fd);
  }
}
