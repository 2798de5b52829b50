/**
 * Reads the header of the PROXY protocol that a load balancer puts before a connection's bytes.
 *
 *   v1: "PROXY TCP4|TCP6 <source> <destination> <port> <port>\r\n" or "PROXY UNKNOWN...\r\n",
 *       at most 107 bytes
 *   v2: signature(12), version and command(1), family(1), length(2), addresses, TLVs
 */
import { dictionary, joined } from '../../../shared/text/dictionary.ts';
import { isUtf8 } from 'node:buffer';
import { isIPv4, isIPv6 } from '../../../shared/addresses/ip-text.ts';
import type { ProxyProtocolFilter } from '../../../shared/resources/filters/listener/proxy-protocol.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { PROXY_PROTOCOL } from '../../../shared/resources/filters/listener/proxy-protocol.ts';
import type { Address, ProxyTlv } from '../../net/connection-info.ts';
import { ipAddress } from '../../net/addresses.ts';
import type {
  EarlyInfo,
  FilterVerdict,
  ListenerFilterRunner,
} from '../../listener/listener-filter.ts';

const V1_START = Buffer.from('PROXY ');
const V1_MAX_BYTES = 107;
const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V2_HEADER_BYTES = 16;
const V2_LOCAL = 0x20;
const V2_PROXY = 0x21;
const V2_TCP4 = 0x11;
const V2_TCP6 = 0x21;
const TLV_HEAD_BYTES = 3;
const ERROR_NAME = 'downstream_cx_proxy_proto_error';

type Header =
  | { readonly kind: 'more' | 'absent' | 'error' }
  /** Addresses are missing when the proxy speaks for itself. */
  | {
      readonly kind: 'header';
      readonly length: number;
      readonly remote?: Address;
      readonly local?: Address;
      /** Where the additions begin; absent: there can be none. */
      readonly additionsAt?: number;
    };

export class ProxyProtocolReader implements ListenerFilterRunner {
  readonly #config: ProxyProtocolFilter;
  readonly #stats: StatWriter;
  readonly #base: number;

  constructor(config: ProxyProtocolFilter, stats: StatWriter) {
    this.#config = config;
    this.#stats = stats;
    const prefix = config.statPrefix === '' ? '' : `${config.statPrefix}.`;
    this.#base = stats.defineBlock(PROXY_PROTOCOL, `proxy_proto.${prefix}`);
  }

  inspect(data: Buffer, facts: EarlyInfo): FilterVerdict {
    const version = versionOf(data);
    if (version === 'more') return 'more';
    if (version === 'absent') return this.#absent();
    const header = version === 'v1' ? readV1(data) : readV2(data);
    if (header.kind === 'more') return 'more';
    if (header.kind !== 'header') {
      this.#count(`versions.${version}.error`);
      return this.#refuse();
    }
    const tlvs = this.#readTlvs(data, header);
    if (tlvs === undefined) {
      this.#count(`versions.${version}.error`);
      return this.#refuse();
    }
    if (this.#config.disallowedVersions.includes(version)) {
      this.#count(`versions.${version}.disallowed`);
      return 'refuse';
    }
    this.#count(`versions.${version}.found`);
    if (header.remote !== undefined) facts.remote = header.remote;
    if (header.local !== undefined) facts.local = header.local;
    this.#keep(tlvs, facts);
    return { consumed: header.length };
  }

  release(): void {
    this.#stats.releaseBlock(this.#base);
  }

  /** None where nobody asks for them; undefined when they are broken. */
  #readTlvs(
    data: Buffer,
    { additionsAt, length }: Extract<Header, { readonly kind: 'header' }>,
  ): readonly ProxyTlv[] | undefined {
    const { rules, passedOn } = this.#config;
    if (additionsAt === undefined || (rules.length === 0 && passedOn === undefined)) return [];
    return readTlvs(data, additionsAt, length);
  }

  #keep(tlvs: readonly ProxyTlv[], facts: EarlyInfo): void {
    const { rules, passedOn } = this.#config;
    // The first of a type is what counts.
    for (const { type, namespace, key, encoding } of rules) {
      const found = tlvs.find((tlv) => tlv.type === type);
      if (found === undefined) continue;
      const text = encoding === 'base64' ? found.value.toString('base64') : utf8Of(found.value);
      facts.metadata ??= new Map();
      facts.metadata.set(
        namespace,
        joined(facts.metadata.get(namespace), dictionary([[key, text]])),
      );
    }
    facts.proxyTlvs = passedOn === undefined ? [] : tlvs;
    if (Array.isArray(passedOn)) {
      facts.proxyTlvs = tlvs.filter(({ type }) => passedOn.includes(type));
    }
  }

  #absent(): FilterVerdict {
    if (this.#config.allowsWithout) {
      this.#count('not_found_allowed');
      return 'done';
    }
    this.#count('not_found_disallowed');
    return this.#refuse();
  }

  #refuse(): FilterVerdict {
    this.#stats.increment(this.#stats.defineCounter(ERROR_NAME));
    return 'refuse';
  }

  #count(name: keyof typeof PROXY_PROTOCOL.index): void {
    this.#stats.increment(this.#base + PROXY_PROTOCOL.index[name]);
  }
}

function versionOf(data: Buffer): 'v1' | 'v2' | 'more' | 'absent' {
  for (const [start, version] of [
    [V1_START, 'v1'],
    [V2_SIGNATURE, 'v2'],
  ] as const) {
    const length = Math.min(start.length, data.length);
    if (data.compare(start, 0, length, 0, length) !== 0) continue;
    return length < start.length ? 'more' : version;
  }
  return 'absent';
}

function readV1(data: Buffer): Header {
  const end = data.subarray(0, V1_MAX_BYTES).indexOf('\r\n');
  if (end < 0) return { kind: data.length >= V1_MAX_BYTES ? 'error' : 'more' };
  const length = end + 2;
  const [, family, source = '', destination = '', sourcePort, destinationPort, ...rest] = data
    .toString('latin1', 0, end)
    .split(' ');
  if (family === 'UNKNOWN') return { kind: 'header', length };
  const isFamily = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : undefined;
  const remotePort = portOf(sourcePort);
  const localPort = portOf(destinationPort);
  if (isFamily === undefined || rest.length > 0) return { kind: 'error' };
  if (!isFamily(source) || !isFamily(destination)) return { kind: 'error' };
  if (remotePort === undefined || localPort === undefined) return { kind: 'error' };
  const remote = ipAddress(source, remotePort);
  return { kind: 'header', length, remote, local: ipAddress(destination, localPort) };
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port > 65_535 ? undefined : port;
}

function readV2(data: Buffer): Header {
  if (data.length < V2_HEADER_BYTES) return { kind: 'more' };
  const command = data[12];
  const family = data[13];
  const length = V2_HEADER_BYTES + data.readUInt16BE(14);
  if (command !== V2_LOCAL && command !== V2_PROXY) return { kind: 'error' };
  if (data.length < length) return { kind: 'more' };
  if (command === V2_LOCAL) return { kind: 'header', length };
  if (family === V2_TCP4) return addresses(data, length, 4);
  if (family === V2_TCP6) return addresses(data, length, 16);
  // Other families are passed over, as the protocol asks of receivers.
  return family === 0 ? { kind: 'header', length } : { kind: 'error' };
}

function addresses(data: Buffer, length: number, bytes: 4 | 16): Header {
  const at = V2_HEADER_BYTES;
  if (length < at + 2 * bytes + 4) return { kind: 'error' };
  const remote = ipAddress(ipText(data, at, bytes), data.readUInt16BE(at + 2 * bytes));
  const local = ipAddress(ipText(data, at + bytes, bytes), data.readUInt16BE(at + 2 * bytes + 2));
  return { kind: 'header', length, remote, local, additionsAt: at + 2 * bytes + 4 };
}

/** Type, length (16 bits) and value of each; undefined when they do not fill the header exactly. */
function readTlvs(data: Buffer, start: number, end: number): readonly ProxyTlv[] | undefined {
  const tlvs: ProxyTlv[] = [];
  for (let at = start; at < end;) {
    if (end - at < TLV_HEAD_BYTES) return undefined;
    const valueAt = at + TLV_HEAD_BYTES;
    const next = valueAt + data.readUInt16BE(at + 1);
    if (next > end) return undefined;
    tlvs.push({ type: data[at] ?? 0, value: Buffer.from(data.subarray(valueAt, next)) });
    at = next;
  }
  return tlvs;
}

/** As Envoy: invalid UTF-8 becomes an exclamation mark, byte for byte. */
function utf8Of(value: Buffer): string {
  if (isUtf8(value)) return value.toString('utf8');
  let text = '';
  for (let at = 0; at < value.length;) {
    const length = [1, 2, 3, 4].find((each) => isUtf8(value.subarray(at, at + each)));
    text += length === undefined ? '!' : value.toString('utf8', at, at + length);
    at += length ?? 1;
  }
  return text;
}

function ipText(data: Buffer, at: number, bytes: 4 | 16): string {
  if (bytes === 4) return [...data.subarray(at, at + 4)].join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    data.readUInt16BE(at + 2 * index).toString(16),
  );
  return shortened(groups.join(':'));
}

/** RFC 5952: the longest run of zeros becomes `::`. */
function shortened(address: string): string {
  const runs = address.match(/(?:^|:)0(?::0)+(?=:|$)/g) ?? [];
  const longest = [...runs].sort((one, other) => other.length - one.length)[0];
  return longest === undefined
    ? address
    : address
        .replace(longest, ':')
        .replace(/^:(?!:)|:$/, (colon) => `${colon}:`)
        .replace(':::', '::');
}
