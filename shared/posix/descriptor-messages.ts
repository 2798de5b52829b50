/**
 * sendmsg and recvmsg with descriptors (SCM_RIGHTS), never blocking. One scratch block holds the
 * message header, the vector, the control bytes and the payload, so that every address handed to
 * libc belongs to memory that does not move.
 *
 *   scratch:  msghdr | iovec | sockaddr (128) | control | payload
 *   control:  credentials (16 + 12, padded) | descriptors (16 + 4 each)
 */
import {
  MSG_CMSG_CLOEXEC,
  MSG_CTRUNC,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  MSG_TRUNC,
  SCM_CREDENTIALS,
  SCM_RIGHTS,
  SOCKADDR_BYTES_MAX,
  SOL_SOCKET,
  UCRED_BYTES,
  UCRED_UID_OFFSET,
} from './layout.ts';
import { closeDescriptor } from './descriptors.ts';
import { addressOf, errnoOf, lastErrno, lastError, layout, libcFunction } from './libc.ts';
import { stableBuffer } from './libc.ts';
import { PosixError } from './posix-error.ts';
import { decodeSocketAddress, encodeSocketAddress, type SocketAddress } from './socket-address.ts';

/** The kernel passes at most this many descriptors in one message (SCM_MAX_FD). */
export const DESCRIPTORS_PER_MESSAGE_MAX = 253;
/** Payloads are small headers; a hot-restart datagram has 4,096 bytes. */
const MESSAGE_BYTES_MAX = 64 * 1024;

export interface DescriptorMessage {
  readonly data: Buffer;
  /** The receiver owns them; they are CLOEXEC. */
  readonly descriptors: readonly number[];
  /**
   * Data or descriptors did not arrive whole: there was no room for them, or this process has as
   * many open as it may. The descriptors that did arrive are closed already.
   */
  readonly isCut: boolean;
  /** Where a datagram came from, when its sender has a name. */
  readonly from?: SocketAddress;
  /** Who sent it, as the kernel says; on sockets with SO_PASSCRED only. */
  readonly sender?: { readonly pid: number; readonly uid: number };
}

/**
 * Sends one message. Returns false when the socket cannot take it now (EAGAIN). A SOCK_SEQPACKET
 * message needs at least one byte of data, or the receiver cannot tell it from the end. `to` is for
 * datagram sockets that are not connected.
 */
export function sendDescriptorMessage(
  fd: number,
  data: Buffer,
  descriptors: readonly number[] = [],
  to?: SocketAddress,
): boolean {
  if (descriptors.length > DESCRIPTORS_PER_MESSAGE_MAX || data.length > MESSAGE_BYTES_MAX) {
    throw new PosixError('EMSGSIZE', 90, 'sendmsg', 'Message too long');
  }
  const scratch = scratchBlock();
  const { cmsghdr } = scratch.table;
  scratch.bytes.fill(0, 0, scratch.payload);
  data.copy(scratch.bytes, scratch.payload);
  const controlBytes = descriptors.length === 0 ? 0 : cmsghdr.size + 4 * descriptors.length;
  if (controlBytes > 0) {
    const at = scratch.control;
    scratch.bytes.writeBigUInt64LE(BigInt(controlBytes), at + cmsghdr.length);
    scratch.bytes.writeInt32LE(SOL_SOCKET, at + cmsghdr.level);
    scratch.bytes.writeInt32LE(SCM_RIGHTS, at + cmsghdr.type);
    descriptors.forEach((descriptor, position) => {
      scratch.bytes.writeInt32LE(descriptor, at + cmsghdr.size + 4 * position);
    });
  }
  const name = to === undefined ? Buffer.alloc(0) : encodeSocketAddress(to);
  name.copy(scratch.bytes, scratch.name);
  const padded = Math.ceil(controlBytes / cmsghdr.alignment) * cmsghdr.alignment;
  writeHeader(scratch, { nameBytes: name.length, controlBytes: padded, dataBytes: data.length });
  return transfer(() => sendmsg(fd, scratch.address, MSG_DONTWAIT | MSG_NOSIGNAL), 'sendmsg') >= 0;
}

/**
 * Receives one message. Returns undefined when none is there (EAGAIN); empty data is the end of a
 * SOCK_SEQPACKET stream. Whatever a sender makes of a message is a result, never an error.
 */
export function receiveDescriptorMessage(fd: number): DescriptorMessage | undefined {
  const scratch = scratchBlock();
  scratch.bytes.fill(0, 0, scratch.payload);
  writeHeader(scratch, {
    nameBytes: SOCKADDR_BYTES_MAX,
    controlBytes: scratch.payload - scratch.control,
    dataBytes: MESSAGE_BYTES_MAX,
  });
  const flags = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;
  const received = transfer(() => recvmsg(fd, scratch.address, flags), 'recvmsg');
  if (received < 0) return undefined;
  const { msghdr } = scratch.table;
  const isCut = (scratch.bytes.readInt32LE(msghdr.flags) & (MSG_TRUNC | MSG_CTRUNC)) !== 0;
  const { descriptors, sender } = readControl(scratch);
  if (isCut) descriptors.splice(0).forEach(closeDescriptor);
  const data = Buffer.from(scratch.bytes.subarray(scratch.payload, scratch.payload + received));
  const nameBytes = scratch.bytes.readUInt32LE(msghdr.nameLength);
  const name = scratch.bytes.subarray(scratch.name, scratch.name + nameBytes);
  const from = decodeSocketAddress(name);
  return {
    data,
    descriptors,
    isCut,
    ...(from === undefined ? {} : { from }),
    ...(sender === undefined ? {} : { sender }),
  };
}

const sendmsg = libcFunction<[number, bigint, number], number>(
  'int64_t sendmsg(int, const void *, int)',
);
const recvmsg = libcFunction<[number, bigint, number], number>('int64_t recvmsg(int, void *, int)');

interface Scratch {
  readonly bytes: Buffer;
  readonly address: bigint;
  readonly table: ReturnType<typeof layout>;
  /** Offsets within the block. */
  readonly vector: number;
  readonly name: number;
  readonly control: number;
  readonly payload: number;
}

let scratchOnce: Scratch | undefined;

function scratchBlock(): Scratch {
  scratchOnce ??= makeScratch();
  return scratchOnce;
}

function makeScratch(): Scratch {
  const table = layout();
  const vector = table.msghdr.size;
  const name = vector + table.iovec.size;
  const control = name + SOCKADDR_BYTES_MAX;
  const { size } = table.cmsghdr;
  const controlBytes = 2 * size + UCRED_BYTES + 4 * DESCRIPTORS_PER_MESSAGE_MAX;
  const payload = control + Math.ceil(controlBytes / 8 + 1) * 8;
  const bytes = stableBuffer(payload + MESSAGE_BYTES_MAX);
  return { bytes, address: addressOf(bytes), table, vector, name, control, payload };
}

function writeHeader(
  scratch: Scratch,
  sizes: { readonly nameBytes: number; readonly controlBytes: number; readonly dataBytes: number },
): void {
  const { bytes, address, table } = scratch;
  const { msghdr, iovec } = table;
  const at = (offset: number): bigint => address + BigInt(offset);
  if (sizes.nameBytes > 0) bytes.writeBigUInt64LE(at(scratch.name), msghdr.name);
  bytes.writeUInt32LE(sizes.nameBytes, msghdr.nameLength);
  bytes.writeBigUInt64LE(at(scratch.vector), msghdr.vector);
  bytes.writeBigUInt64LE(1n, msghdr.vectorLength);
  if (sizes.controlBytes > 0) bytes.writeBigUInt64LE(at(scratch.control), msghdr.control);
  bytes.writeBigUInt64LE(BigInt(sizes.controlBytes), msghdr.controlLength);
  bytes.writeBigUInt64LE(at(scratch.payload), scratch.vector + iovec.base);
  bytes.writeBigUInt64LE(BigInt(sizes.dataBytes), scratch.vector + iovec.length);
}

interface Control {
  readonly descriptors: number[];
  readonly sender: DescriptorMessage['sender'];
}

function readControl({ bytes, table, control }: Scratch): Control {
  const { msghdr, cmsghdr } = table;
  const end = control + Number(bytes.readBigUInt64LE(msghdr.controlLength));
  const descriptors: number[] = [];
  let sender: DescriptorMessage['sender'];
  let at = control;
  while (at + cmsghdr.size <= end) {
    const length = Number(bytes.readBigUInt64LE(at + cmsghdr.length));
    if (length < cmsghdr.size) break;
    const isOfSocket = bytes.readInt32LE(at + cmsghdr.level) === SOL_SOCKET;
    const type = isOfSocket ? bytes.readInt32LE(at + cmsghdr.type) : undefined;
    const body = bytes.subarray(at + cmsghdr.size, at + length);
    if (type === SCM_RIGHTS) {
      for (let each = 0; each + 4 <= body.length; each += 4) {
        descriptors.push(body.readInt32LE(each));
      }
    } else if (type === SCM_CREDENTIALS && body.length >= UCRED_BYTES) {
      sender = { pid: body.readInt32LE(0), uid: body.readUInt32LE(UCRED_UID_OFFSET) };
    }
    at += Math.ceil(length / cmsghdr.alignment) * cmsghdr.alignment;
  }
  return { descriptors, sender };
}

/** Runs a call until it is not interrupted; -1 means that it would have blocked. */
function transfer(call: () => number, syscall: string): number {
  for (;;) {
    const result = call();
    if (result >= 0) return result;
    if (lastErrno() === errnoOf('EAGAIN')) return -1;
    if (lastErrno() !== errnoOf('EINTR')) throw lastError(syscall);
  }
}
