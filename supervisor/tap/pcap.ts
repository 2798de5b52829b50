/**
 * Recorded connections as a packet capture (pcap, raw IP): the bytes are those that passed, the
 * packets around them are made here, with a handshake, sequence numbers and an end, so that
 * Wireshark and tcpdump follow the streams. What TLS protected stands in plain.
 */
import { ipv6Groups } from '../../shared/addresses/ip-groups.ts';
import { isIP } from '../../shared/addresses/ip-text.ts';
import type { SocketEvent, SocketSegment, TraceConnection } from './trace-json.ts';

/** Connections whose places are remembered; the oldest is forgotten for another. */
const CONNECTIONS_MAX = 10_000;
/** A packet has a length of 16 bits. */
const PAYLOAD_MAX = 32_768;
const RAW_IP = 101;
const SNAPSHOT = 65_535;
const [FIN, SYN, PSH, ACK] = [0x01, 0x02, 0x08, 0x10];
const TCP = 6;
const TCP_HEADER = 20;

interface End {
  readonly ip: Buffer;
  readonly port: number;
  /** The next byte that it sends. */
  next: number;
}

interface Conversation {
  readonly client: End;
  readonly server: End;
  /** The packets that opened it are there. */
  isOpen: boolean;
}

export function pcapHeader(): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(SNAPSHOT, 16);
  header.writeUInt32LE(RAW_IP, 20);
  return header;
}

export class PcapWriter {
  readonly #conversations = new Map<string, Conversation>();

  /** The packets of one recorded event; none where its connection is not known. */
  packets({ trace_id: id = '', connection, event }: SocketSegment, nowMs: number): Buffer {
    if (connection !== undefined) this.#begin(id, connection);
    const conversation = this.#conversations.get(id);
    if (conversation === undefined || event === undefined) return Buffer.alloc(0);
    const atMs = Date.parse(event.timestamp ?? '') || nowMs;
    // When it was opened, nobody says.
    const opening = conversation.isOpen ? [] : handshake(conversation, atMs);
    conversation.isOpen = true;
    return Buffer.concat([...opening, ...this.#passed(id, conversation, event, atMs)]);
  }

  #passed(
    id: string,
    { client, server }: Conversation,
    event: SocketEvent,
    atMs: number,
  ): readonly Buffer[] {
    if (event.closed !== undefined) {
      this.#conversations.delete(id);
      return [
        packet({ from: server, to: client, flags: FIN | ACK, atMs }),
        packet({ from: client, to: server, flags: FIN | ACK, atMs }),
        packet({ from: server, to: client, flags: ACK, atMs }),
      ];
    }
    const [from, to, data] =
      event.read === undefined
        ? [server, client, event.write?.data]
        : [client, server, event.read.data];
    const bytes = Buffer.from(data?.as_bytes ?? '', 'base64');
    const packets: Buffer[] = [];
    for (let start = 0; start < bytes.length; start += PAYLOAD_MAX) {
      packets.push(
        packet({
          from,
          to,
          flags: PSH | ACK,
          payload: bytes.subarray(start, start + PAYLOAD_MAX),
          atMs,
        }),
      );
    }
    return packets;
  }

  #begin(id: string, connection: TraceConnection): void {
    const client = endOf(connection.remote_address?.socket_address, 1000);
    const server = endOf(connection.local_address?.socket_address, 2000);
    // Unix sockets have no packets, and both ends are of one family.
    if (client === undefined || server?.ip.length !== client.ip.length) return;
    if (this.#conversations.size >= CONNECTIONS_MAX) {
      for (const [oldest] of this.#conversations) {
        this.#conversations.delete(oldest);
        break;
      }
    }
    this.#conversations.set(id, { client, server, isOpen: false });
  }
}

function handshake({ client, server }: Conversation, atMs: number): readonly Buffer[] {
  return [
    packet({ from: client, to: server, flags: SYN, atMs }),
    packet({ from: server, to: client, flags: SYN | ACK, atMs }),
    packet({ from: client, to: server, flags: ACK, atMs }),
  ];
}

const NOTHING = Buffer.alloc(0);

function endOf(
  address: { readonly address?: string; readonly port_value?: number } | undefined,
  next: number,
): End | undefined {
  const ip = ipBytes(address?.address ?? '');
  return ip && { ip, port: address?.port_value ?? 0, next };
}

function ipBytes(text: string): Buffer | undefined {
  const version = isIP(text);
  if (version === 4) return Buffer.from(text.split('.').map(Number));
  if (version !== 6) return undefined;
  const bytes = Buffer.alloc(16);
  ipv6Groups(text).forEach((group, at) => bytes.writeUInt16BE(group, at * 2));
  return bytes;
}

interface Packet {
  readonly from: End;
  readonly to: End;
  readonly flags: number;
  readonly payload?: Buffer;
  readonly atMs: number;
}

/** One packet with its entry in the file; moves the sender's place. */
function packet({ from, to, flags, payload = NOTHING, atMs }: Packet): Buffer {
  const segment = Buffer.alloc(TCP_HEADER + payload.length);
  segment.writeUInt16BE(from.port, 0);
  segment.writeUInt16BE(to.port, 2);
  segment.writeUInt32BE(from.next, 4);
  segment.writeUInt32BE((flags & ACK) === 0 ? 0 : to.next, 8);
  segment[12] = (TCP_HEADER / 4) << 4;
  segment[13] = flags;
  segment.writeUInt16BE(SNAPSHOT, 14);
  payload.copy(segment, TCP_HEADER);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(segment.length);
  const pseudo = Buffer.concat([from.ip, to.ip, Buffer.from([0, 0, 0, TCP]), length]);
  segment.writeUInt16BE(checksum(Buffer.concat([pseudo, segment])), 16);
  const isOpening = (flags & (SYN | FIN)) !== 0;
  from.next = (from.next + payload.length + (isOpening ? 1 : 0)) >>> 0;
  const data = Buffer.concat([ipHeader(from.ip, to.ip, segment.length), segment]);
  const entry = Buffer.alloc(16);
  entry.writeUInt32LE(Math.floor(atMs / 1000), 0);
  entry.writeUInt32LE(Math.floor((atMs % 1000) * 1000), 4);
  entry.writeUInt32LE(data.length, 8);
  entry.writeUInt32LE(data.length, 12);
  return Buffer.concat([entry, data]);
}

function ipHeader(from: Buffer, to: Buffer, length: number): Buffer {
  if (from.length === 16) {
    const header = Buffer.alloc(8);
    header[0] = 0x60;
    header.writeUInt16BE(length, 4);
    header[6] = TCP;
    header[7] = 64;
    return Buffer.concat([header, from, to]);
  }
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(20 + length, 2);
  header[8] = 64;
  header[9] = TCP;
  from.copy(header, 12);
  to.copy(header, 16);
  header.writeUInt16BE(checksum(header), 10);
  return header;
}

/** The ones' complement sum of RFC 1071. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  if (bytes.length % 2 === 1) sum += (bytes[bytes.length - 1] ?? 0) << 8;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
