/**
 * The Huffman code of HPACK (RFC 7541 section 5.2, appendix B). Decodes four bits at a time by a
 * table of states, so that a string costs two look-ups a byte, and encodes. Owns no limits: its caller bounds
 * the input.
 *
 * The code is canonical: within a length codes rise with their symbols, so the lengths say it all.
 */

/** Bits of the code of each byte; the end-of-string symbol has 30. */
const LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5,
  6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6,
  7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
  23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22,
  22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22,
  23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27,
  27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25,
  24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
] as const;
const END_OF_STRING = 256;
const END_OF_STRING_LENGTH = 30;

/** Set in a transition that completes a symbol, which stands above the flags. */
const EMITS = 1 << 16;
/**
 * Set where a string may end: what is left over are at most seven bits of the end-of-string code.
 */
const MAY_END = 1 << 17;
/** The whole end-of-string code, which no string may hold. */
const FAILS = 1 << 18;
const SYMBOL_SHIFT = 19;
const STATE_MASK = 0xffff;

/** By state and nibble: the next state, the symbol, and the flags above. Made at first use. */
let transitionsOnce: Int32Array | undefined;

/** The bytes of a latin-1 text in this code. */
export function huffmanBytes(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at++) bits += LENGTHS[text.charCodeAt(at) & 0xff] ?? 0;
  return (bits + 7) >> 3;
}

/** By byte. Made at first use. */
let codesOnce: Int32Array | undefined;

/** Writes a latin-1 text to `out`, which has the room. Returns the number of bytes. */
export function encodeHuffman(text: string, out: Uint8Array, start: number): number {
  const codes = (codesOnce ??= buildCodes());
  let at = start;
  // The byte that is being filled, and how many of its bits are.
  let waiting = 0;
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const byte = text.charCodeAt(index) & 0xff;
    const length = LENGTHS[byte] ?? 0;
    const code = codes[byte] ?? 0;
    for (let left = length; left > 0;) {
      const taken = Math.min(left, 8 - count);
      left -= taken;
      waiting = (waiting << taken) | ((code >>> left) & ((1 << taken) - 1));
      count += taken;
      if (count < 8) continue;
      out[at++] = waiting;
      waiting = count = 0;
    }
  }
  if (count > 0) out[at++] = (waiting << (8 - count)) | (0xff >> count);
  return at - start;
}

function buildCodes(): Int32Array {
  const codes = new Int32Array(END_OF_STRING + 1);
  for (const { symbol, code } of canonicalCodes()) codes[symbol] = code;
  return codes;
}

/** Decodes `input` from `start` to `end` as latin-1; undefined where the code is broken. */
export function decodeHuffman(input: Uint8Array, start: number, end: number): string | undefined {
  const transitions = (transitionsOnce ??= buildTransitions());
  // The shortest code has five bits.
  const most = ((end - start) * 8) / 5 + 1;
  const out = most <= scratch.length ? scratch : Buffer.allocUnsafe(most);
  let length = 0;
  let entry = MAY_END;
  for (let at = start; at < end; at++) {
    const byte = input[at] ?? 0;
    entry = transitions[((entry & STATE_MASK) << 4) | (byte >> 4)] ?? FAILS;
    if ((entry & EMITS) !== 0) out[length++] = entry >> SYMBOL_SHIFT;
    if ((entry & FAILS) !== 0) return undefined;
    entry = transitions[((entry & STATE_MASK) << 4) | (byte & 15)] ?? FAILS;
    if ((entry & EMITS) !== 0) out[length++] = entry >> SYMBOL_SHIFT;
    if ((entry & FAILS) !== 0) return undefined;
  }
  return (entry & MAY_END) === 0 ? undefined : out.toString('latin1', 0, length);
}

const scratch = Buffer.allocUnsafe(16 * 1024);

interface Node {
  readonly children: [Node | number | undefined, Node | number | undefined];
  /** Position in the table of states. */
  state: number;
  /** Bits from the root when they are all ones, else -1. */
  readonly ones: number;
}

function buildTransitions(): Int32Array {
  const nodes = buildTree();
  const table = new Int32Array(nodes.length * 16);
  for (const node of nodes) {
    for (let nibble = 0; nibble < 16; nibble++) {
      table[(node.state << 4) | nibble] = step(node, nibble, nodes[0] ?? node);
    }
  }
  return table;
}

function step(from: Node, nibble: number, root: Node): number {
  let node = from;
  let symbol = -1;
  for (let bit = 3; bit >= 0; bit--) {
    const next = node.children[(nibble >> bit) & 1];
    if (next === undefined || next === END_OF_STRING) return FAILS;
    if (typeof next === 'number') {
      symbol = next;
      node = root;
    } else node = next;
  }
  const mayEnd = node.ones >= 0 && node.ones <= 7 ? MAY_END : 0;
  return node.state | mayEnd | (symbol < 0 ? 0 : EMITS | (symbol << SYMBOL_SHIFT));
}

/** Inner nodes of the code's tree; the first is the root. */
function buildTree(): readonly Node[] {
  const root: Node = { children: [undefined, undefined], state: 0, ones: 0 };
  const nodes = [root];
  for (const { symbol, code, length } of canonicalCodes()) {
    let node = root;
    for (let bit = length - 1; bit > 0; bit--) {
      const branch = ((code >>> bit) & 1) as 0 | 1;
      let next = node.children[branch];
      if (next === undefined) {
        const ones = branch === 1 && node.ones >= 0 ? node.ones + 1 : -1;
        next = { children: [undefined, undefined], state: nodes.length, ones };
        nodes.push(next);
        node.children[branch] = next;
      }
      if (typeof next === 'number') throw new Error('the code is not prefix-free');
      node = next;
    }
    node.children[(code & 1) as 0 | 1] = symbol;
  }
  return nodes;
}

function* canonicalCodes(): Iterable<{ symbol: number; code: number; length: number }> {
  const all: { symbol: number; length: number }[] = LENGTHS.map((length, symbol) => ({
    symbol,
    length,
  }));
  all.push({ symbol: END_OF_STRING, length: END_OF_STRING_LENGTH });
  all.sort((a, b) => a.length - b.length || a.symbol - b.symbol);
  let code = 0;
  let before = 0;
  for (const { symbol, length } of all) {
    code = before === 0 ? 0 : (code + 1) * 2 ** (length - before);
    before = length;
    yield { symbol, code, length };
  }
}
