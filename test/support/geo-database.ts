/** Makes small databases in MaxMind's format: networks of IPv4 with what is known of them. */

/** A buffer is encoded already. */
type Value =
  | string
  | number
  | boolean
  | Buffer
  | readonly Value[]
  | { readonly [key: string]: Value };

const TYPES = { map: 7, text: 2, uint16: 5, uint32: 6, uint64: 9, list: 11, flag: 14 } as const;
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
/** IPv4 stands below these bits in a tree of IPv6. */
const IPV4_BITS = 96;

interface Node {
  zero: Node | number | undefined;
  one: Node | number | undefined;
}

function control(type: number, size: number): Buffer {
  if (size >= 29 + 256) throw new Error('too large for a test');
  const sizeBits = size < 29 ? size : 29;
  const head = type > 7 ? [sizeBits, type - 7] : [(type << 5) | sizeBits];
  return Buffer.from(size < 29 ? head : [...head, size - 29]);
}

function encode(value: Value): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([control(TYPES.text, text.length), text]);
  }
  if (typeof value === 'boolean') return control(TYPES.flag, value ? 1 : 0);
  if (typeof value === 'number') return unsigned(TYPES.uint32, 4, value);
  if (value instanceof Array) {
    return Buffer.concat([control(TYPES.list, value.length), ...value.map(encode)]);
  }
  const entries = Object.entries(value);
  const members = entries.flatMap(([key, member]) => [encode(key), encode(member)]);
  return Buffer.concat([control(TYPES.map, entries.length), ...members]);
}

function unsigned(type: number, length: number, value: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, Math.max(0, length - 6), Math.min(6, length));
  return Buffer.concat([control(type, length), bytes]);
}

/** `networks` are such as `10.1.0.0/16`; of one within another the longer one stands last. */
export function geoDatabase(type: string, networks: Readonly<Record<string, Value>>): Buffer {
  const root: Node = { zero: undefined, one: undefined };
  const data: Buffer[] = [];
  let dataLength = 0;
  for (const [network, value] of Object.entries(networks)) {
    insert(root, network, dataLength);
    const bytes = encode(value);
    data.push(bytes);
    dataLength += bytes.length;
  }
  const nodes: Node[] = [];
  number(root, nodes);
  const records = nodes.flatMap(({ zero, one }) => [zero, one].map((to) => record(to, nodes)));
  const metadata = encode({
    binary_format_major_version: unsigned(TYPES.uint16, 2, 2),
    binary_format_minor_version: unsigned(TYPES.uint16, 2, 0),
    build_epoch: unsigned(TYPES.uint64, 8, 1_700_000_000),
    database_type: type,
    description: { en: 'of a test' },
    ip_version: unsigned(TYPES.uint16, 2, 6),
    languages: ['en'],
    node_count: nodes.length,
    record_size: unsigned(TYPES.uint16, 2, 32),
  });
  return Buffer.concat([...records, Buffer.alloc(16), ...data, MARKER, metadata]);
}

function insert(root: Node, network: string, offset: number): void {
  const [address = '', length = '32'] = network.split('/');
  const bits = address.split('.').map((part) => Number(part).toString(2).padStart(8, '0'));
  const path = '0'.repeat(IPV4_BITS) + bits.join('').slice(0, Number(length));
  let node = root;
  for (const bit of path.slice(0, -1)) {
    const side = bit === '1' ? 'one' : 'zero';
    const next = node[side];
    if (typeof next === 'object') node = next;
    else {
      const made: Node = { zero: next, one: next };
      node[side] = made;
      node = made;
    }
  }
  node[path.endsWith('1') ? 'one' : 'zero'] = offset;
}

function number(node: Node, nodes: Node[]): void {
  nodes.push(node);
  for (const side of [node.zero, node.one]) if (typeof side === 'object') number(side, nodes);
}

function record(to: Node | number | undefined, nodes: readonly Node[]): Buffer {
  const bytes = Buffer.alloc(4);
  if (to === undefined) bytes.writeUInt32BE(nodes.length);
  else if (typeof to === 'object') bytes.writeUInt32BE(nodes.indexOf(to));
  else bytes.writeUInt32BE(nodes.length + 16 + to);
  return bytes;
}
