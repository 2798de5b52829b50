/**
 * Writes what a connection begins with whose host wants to know the client: the PROXY protocol.
 *
 *   version 1: "PROXY TCP4 <source> <destination> <source port> <destination port>\r\n"
 *   version 2: 12 bytes of signature, 0x21, family and transport, length of the rest (16 bits),
 *              addresses, ports, then type, length (16 bits) and value of each addition
 *
 * Source: https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt
 */
import { isIPv6 } from '../../shared/addresses/ip-text.ts';
import type {
  ProxyProtocolSender,
  TlvChoice,
} from '../../shared/resources/clusters/proxy-protocol.ts';
import type { Address, ConnectionInfo, ProxyTlv } from '../net/connection-info.ts';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const PROXY = 0x21;
const LOCAL = 0x20;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;

/** Without a client, and with addresses of different families, the header names nobody. */
export function proxyProtocolHeader(
  { version, tlvs, passedOn }: ProxyProtocolSender,
  client: Pick<ConnectionInfo, 'remoteAddress' | 'localAddress' | 'proxyTlvs'> | undefined,
): Buffer {
  const pair = client === undefined ? undefined : pairOf(client.remoteAddress, client.localAddress);
  if (version === 'V1') return Buffer.from(textHeader(pair), 'latin1');
  if (pair === undefined) return Buffer.concat([SIGNATURE, Buffer.from([LOCAL, 0, 0, 0])]);
  const { source, destination, isV6 } = pair;
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(source.port, 0);
  ports.writeUInt16BE(destination.port, 2);
  const rest = [
    addressBytes(source.ip, isV6),
    addressBytes(destination.ip, isV6),
    ports,
    ...tlvs.map(({ type, value }) => additionBytes(type, Buffer.from(value, 'base64'))),
    ...clientsOwn(client?.proxyTlvs ?? [], tlvs, passedOn),
  ];
  const length = rest.reduce((sum, part) => sum + part.length, 0);
  const family = isV6 ? TCP_OVER_IPV6 : TCP_OVER_IPV4;
  const head = Buffer.from([PROXY, family, length >> 8, length & 0xff]);
  return Buffer.concat([SIGNATURE, head, ...rest]);
}

interface Pair {
  readonly source: Address;
  readonly destination: Address;
  readonly isV6: boolean;
}

function pairOf(source: Address, destination: Address): Pair | undefined {
  if (source.kind !== 'ip' || destination.kind !== 'ip') return undefined;
  const isV6 = isIPv6(source.ip);
  return isV6 === isIPv6(destination.ip) ? { source, destination, isV6 } : undefined;
}

function textHeader(pair: Pair | undefined): string {
  if (pair === undefined) return 'PROXY UNKNOWN\r\n';
  const { source, destination, isV6 } = pair;
  const family = isV6 ? 'TCP6' : 'TCP4';
  return `PROXY ${family} ${source.ip} ${destination.ip} ${source.port} ${destination.port}\r\n`;
}

function addressBytes(ip: string, isV6: boolean): Buffer {
  if (!isV6) return Buffer.from(ip.split('.').map(Number));
  const bytes = Buffer.alloc(16);
  groupsOf(ip).forEach((group, index) => bytes.writeUInt16BE(group, index * 2));
  return bytes;
}

/** The eight numbers of an IPv6 address, `::` filled in. */
function groupsOf(ip: string): readonly number[] {
  const dotted = /\d+\.\d+\.\d+\.\d+$/.exec(ip)?.[0];
  const plain = dotted === undefined ? ip : ip.replace(dotted, hexGroups(dotted));
  const [left = '', right] = plain.split('::');
  const parse = (text: string): readonly number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const head = parse(left);
  const tail = parse(right ?? '');
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => 0);
  return [...head, ...zeros, ...tail];
}

function hexGroups(dotted: string): string {
  return Buffer.from(dotted.split('.').map(Number))
    .toString('hex')
    .replace(/(.{4})(.{4})/, '$1:$2');
}

/** What is configured stands in place of the client's of the same type. */
function clientsOwn(
  tlvs: readonly ProxyTlv[],
  configured: ProxyProtocolSender['tlvs'],
  passedOn: TlvChoice | undefined,
): readonly Buffer[] {
  if (passedOn === undefined) return [];
  return tlvs
    .filter(({ type }) => passedOn === 'all' || passedOn.includes(type))
    .filter(({ type }) => configured.every((each) => each.type !== type))
    .map(({ type, value }) => additionBytes(type, value));
}

function additionBytes(type: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type, bytes.length >> 8, bytes.length & 0xff]), bytes]);
}
