/** Writes and reads the messages of hot-restart-message.ts, whose header has their fields. */
import protobuf from 'protobufjs/minimal.js';
import type {
  HotRestartMessage,
  HotRestartReply,
  HotRestartRequest,
  ParentStats,
} from './hot-restart-message.ts';

const { Reader, Writer } = protobuf;
type Reader = protobuf.Reader;
type Writer = protobuf.Writer;

const REQUEST_FIELDS = {
  pass_listen_socket: 1,
  shutdown_admin: 2,
  stats: 3,
  drain_listeners: 4,
  terminate: 5,
} as const;
const REPLY_FIELDS = { pass_listen_socket: 1, shutdown_admin: 2, stats: 3 } as const;

/** The protobuf bytes of a message, without the length before them. */
export function encodeHotRestartMessage(
  message: Exclude<HotRestartMessage, { kind: 'unknown' }>,
): Uint8Array {
  const writer = Writer.create();
  switch (message.kind) {
    case 'request':
      writeNested(writer, 1, () => writeRequest(writer, message.request));
      break;
    case 'reply':
      writeNested(writer, 2, () => writeReply(writer, message.reply));
      break;
    case 'not_recognised':
      writer.uint32(tag(3, VARINT)).bool(true);
      break;
  }
  return writer.finish();
}

/** Bytes that are no message. */
export class MalformedMessageError extends Error {
  readonly code = 'hot_restart_message';
}

/**
 * Throws `MalformedMessageError`, and nothing else, for bytes that are no message; unknown fields
 * are passed over.
 */
export function decodeHotRestartMessage(bytes: Uint8Array): HotRestartMessage {
  try {
    return readMessage(bytes);
  } catch (cause) {
    throw new MalformedMessageError((cause as Error).message, { cause });
  }
}

function readMessage(bytes: Uint8Array): HotRestartMessage {
  const reader = Reader.create(bytes);
  let found: HotRestartMessage = { kind: 'unknown' };
  forEachField(reader, reader.len, (field) => {
    if (field === 1) found = readNested(reader, readRequest);
    else if (field === 2) found = readNested(reader, readReply);
    else if (field === 3 && reader.bool()) found = { kind: 'not_recognised' };
    else return false;
    return true;
  });
  return found;
}

/** Far above what Envoy uses. */
const OWN_FIELD = 1000;
const VARINT = 0;
const BYTES = 2;
/**
 * Wire types of groups, which no message of this protocol has had. They nest, so that skipping
 * recurses.
 */
const GROUP_BEGIN = 3;
const GROUP_END = 4;

function tag(field: number, wireType: number): number {
  return (field << 3) | wireType;
}

function writeNested(writer: Writer, field: number, write: () => void): void {
  writer.uint32(tag(field, BYTES)).fork();
  write();
  writer.ldelim();
}

function writeRequest(writer: Writer, request: HotRestartRequest): void {
  writeNested(writer, REQUEST_FIELDS[request.kind], () => {
    if (request.kind === 'stats' && request.isSluice) {
      writer.uint32(tag(OWN_FIELD, VARINT)).bool(true);
    }
    if (request.kind !== 'pass_listen_socket') return;
    writer.uint32(tag(1, BYTES)).string(request.address);
    if (request.workerIndex !== 0) writer.uint32(tag(2, VARINT)).uint32(request.workerIndex);
  });
}

function writeReply(writer: Writer, reply: HotRestartReply): void {
  writeNested(writer, REPLY_FIELDS[reply.kind], () => {
    switch (reply.kind) {
      case 'pass_listen_socket':
        // The number means nothing to the receiver: the descriptor travels beside the message.
        writer.uint32(tag(1, VARINT)).int32(reply.hasSocket ? 1 : -1);
        break;
      case 'shutdown_admin':
        writer.uint32(tag(1, VARINT)).uint64(reply.originalStartTimeUnixSeconds);
        writer.uint32(tag(2, VARINT)).bool(reply.enableReusePortDefault);
        if (reply.hostOrders !== undefined) {
          writer.uint32(tag(OWN_FIELD, BYTES)).string(reply.hostOrders);
        }
        break;
      case 'stats':
        writeStats(writer, reply.stats);
        break;
    }
  });
}

function writeStats(writer: Writer, stats: ParentStats): void {
  writeDynamics(writer, stats);
  if (stats.areTotals) writer.uint32(tag(OWN_FIELD, VARINT)).bool(true);
  writer.uint32(tag(1, VARINT)).uint64(stats.memoryAllocated);
  writer.uint32(tag(2, VARINT)).uint64(stats.numConnections);
  for (const [field, values] of [
    [3, stats.counterDeltas],
    [4, stats.gauges],
  ] as const) {
    for (const [name, value] of values) {
      writer.uint32(tag(field, BYTES)).fork();
      writer.uint32(tag(1, BYTES)).string(name).uint32(tag(2, VARINT)).uint64(value).ldelim();
    }
  }
}

/**
 * Names that Envoy knows as dynamic: it finds them only when it is told which of their words
 * are, by first and last position. Source: what Envoy sends for this one.
 */
const DYNAMIC_NAMES = [{ name: 'server.hot_restart_generation', first: 0, last: 1 }];

function writeDynamics(writer: Writer, stats: ParentStats): void {
  for (const { name, first, last } of DYNAMIC_NAMES) {
    if (!stats.gauges.has(name)) continue;
    writer.uint32(tag(5, BYTES)).fork().uint32(tag(1, BYTES)).string(name);
    writer.uint32(tag(2, BYTES)).fork().uint32(tag(1, BYTES)).fork();
    writer.uint32(tag(1, VARINT)).uint32(first).uint32(tag(2, VARINT)).uint32(last);
    writer.ldelim().ldelim().ldelim();
  }
}

/** Calls `read` for each field; a field that it does not take is skipped. */
function forEachField(reader: Reader, end: number, read: (field: number) => boolean): void {
  if (end > reader.len) throw new RangeError('a part goes beyond the end of its message');
  while (reader.pos < end) {
    const head = reader.uint32();
    const wireType = head & 7;
    if (wireType === GROUP_BEGIN || wireType === GROUP_END) throw new RangeError('a group');
    if (!read(head >>> 3)) reader.skipType(wireType);
  }
  if (reader.pos !== end) throw new RangeError('a field goes beyond the end of its part');
}

function readNested<T>(reader: Reader, read: (reader: Reader, end: number) => T): T {
  const length = reader.uint32();
  return read(reader, reader.pos + length);
}

function readRequest(reader: Reader, end: number): HotRestartMessage {
  let found: HotRestartMessage = { kind: 'unknown' };
  forEachField(reader, end, (field) => {
    const kind = kindOf(REQUEST_FIELDS, field);
    if (kind === undefined) return false;
    const request = readNested(reader, (_, innerEnd) => readRequestBody(reader, innerEnd, kind));
    found = { kind: 'request', request };
    return true;
  });
  return found;
}

function readRequestBody(
  reader: Reader,
  end: number,
  kind: HotRestartRequest['kind'],
): HotRestartRequest {
  let address = '';
  let workerIndex = 0;
  let isSluice = false;
  forEachField(reader, end, (field) => {
    if (kind === 'stats' && field === OWN_FIELD) {
      isSluice = reader.bool();
      return true;
    }
    if (kind !== 'pass_listen_socket') return false;
    if (field === 1) address = reader.string();
    else if (field === 2) workerIndex = reader.uint32();
    else return false;
    return true;
  });
  if (kind === 'pass_listen_socket') return { kind, address, workerIndex };
  return kind === 'stats' ? { kind, isSluice } : { kind };
}

function readReply(reader: Reader, end: number): HotRestartMessage {
  let found: HotRestartMessage = { kind: 'unknown' };
  forEachField(reader, end, (field) => {
    const kind = kindOf(REPLY_FIELDS, field);
    if (kind === undefined) return false;
    const reply = readNested(reader, (_, innerEnd) => readReplyBody(reader, innerEnd, kind));
    found = { kind: 'reply', reply };
    return true;
  });
  return found;
}

function readReplyBody(
  reader: Reader,
  end: number,
  kind: HotRestartReply['kind'],
): HotRestartReply {
  switch (kind) {
    case 'pass_listen_socket': {
      let fd = 0;
      forEachField(reader, end, (field) => {
        if (field !== 1) return false;
        fd = reader.int32();
        return true;
      });
      return { kind, hasSocket: fd !== -1 };
    }
    case 'shutdown_admin': {
      let originalStartTimeUnixSeconds = 0;
      let enableReusePortDefault = false;
      let hostOrders: string | undefined;
      forEachField(reader, end, (field) => {
        if (field === 1) originalStartTimeUnixSeconds = readUint64(reader);
        else if (field === 2) enableReusePortDefault = reader.bool();
        else if (field === OWN_FIELD) hostOrders = reader.string();
        else return false;
        return true;
      });
      const own = hostOrders === undefined ? {} : { hostOrders };
      return { kind, originalStartTimeUnixSeconds, enableReusePortDefault, ...own };
    }
    case 'stats':
      return { kind, stats: readStats(reader, end) };
  }
}

function readStats(reader: Reader, end: number): ParentStats {
  let memoryAllocated = 0;
  let numConnections = 0;
  const counterDeltas = new Map<string, number>();
  const gauges = new Map<string, number>();
  let areTotals = false;
  forEachField(reader, end, (field) => {
    if (field === 1) memoryAllocated = readUint64(reader);
    else if (field === 2) numConnections = readUint64(reader);
    else if (field === 3)
      readNested(reader, (_, entryEnd) => readEntry(reader, entryEnd, counterDeltas));
    else if (field === 4) readNested(reader, (_, entryEnd) => readEntry(reader, entryEnd, gauges));
    else if (field === OWN_FIELD) areTotals = reader.bool();
    else return false;
    return true;
  });
  return { memoryAllocated, numConnections, counterDeltas, gauges, areTotals };
}

function readEntry(reader: Reader, end: number, into: Map<string, number>): void {
  let name = '';
  let value = 0;
  forEachField(reader, end, (field) => {
    if (field === 1) name = reader.string();
    else if (field === 2) value = readUint64(reader);
    else return false;
    return true;
  });
  into.set(name, value);
}

function readUint64(reader: Reader): number {
  // A number, or an object of the package `long` where that is installed.
  const value = reader.uint64() as unknown as number | { toNumber(): number };
  return typeof value === 'number' ? value : value.toNumber();
}

function kindOf<Fields extends Readonly<Record<string, number>>>(
  fields: Fields,
  wanted: number,
): Extract<keyof Fields, string> | undefined {
  const found = Object.entries(fields).find(([, field]) => field === wanted);
  return found?.[0] as Extract<keyof Fields, string> | undefined;
}
