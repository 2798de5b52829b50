/** Questions for addresses to name servers and their answers, as messages of RFC 1035. */
import { isIP } from '../addresses/ip-text.ts';
import { decode, encode, RECURSION_DESIRED, type Answer, type Packet } from 'dns-packet';
import { asciiLower } from '../text/ascii.ts';

const TYPES = { 4: 'A', 6: 'AAAA' } as const;
const LABEL_BYTES_MAX = 63;
/** With the length before each label and the empty one at the end. */
const NAME_BYTES_MAX = 255;

/** c-ares's names of what a name server answers. */
const RESPONSE_CODES: ReadonlyMap<string, string> = new Map([
  ['FORMERR', 'EFORMERR'],
  ['SERVFAIL', 'ESERVFAIL'],
  ['NXDOMAIN', 'ENOTFOUND'],
  ['NOTIMP', 'ENOTIMP'],
  ['REFUSED', 'EREFUSED'],
]);

export interface AddressRecord {
  readonly address: string;
  /** Seconds. */
  readonly ttl: number;
}

/** Undefined for what is no name. */
export function encodeQuestion(name: string, family: 4 | 6, id: number): Buffer | undefined {
  const labels = name.split('.').map((label) => Buffer.byteLength(label));
  const bytes = labels.reduce((sum, length) => sum + 1 + length, 1);
  const isName = labels.every((length) => length > 0 && length <= LABEL_BYTES_MAX);
  if (!isName || bytes > NAME_BYTES_MAX) return undefined;
  return encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ type: TYPES[family], name }],
  });
}

/** A question as it was asked. */
export interface Question {
  readonly name: string;
  readonly family: 4 | 6;
  readonly id: number;
}

/**
 * The addresses of an answer to the question, or c-ares's code for want of any. What is about
 * another question is no answer, nor are records of names that the question does not lead to.
 */
export function decodeAnswer(
  message: Buffer,
  { name, family, id }: Question,
): readonly AddressRecord[] | string {
  const packet = decodePacket(message);
  if (packet === undefined || !isAnswerTo(packet, { name, family, id })) return 'EBADRESP';
  const { rcode = 'NOERROR' } = packet;
  if (rcode !== 'NOERROR') return RESPONSE_CODES.get(rcode) ?? 'ESERVFAIL';
  const answers = packet.answers ?? [];
  const owners = aliasesOf(name, answers);
  const records = answers.flatMap((answer) =>
    answer.type === TYPES[family] && owners.has(asciiLower(answer.name))
      ? [{ address: answer.data, ttl: answer.ttl ?? 0 }]
      : [],
  );
  // A record that is too short for an address is decoded as one all the same.
  if (records.some(({ address }) => isIP(address) !== family)) return 'EBADRESP';
  return records.length === 0 ? 'ENODATA' : records;
}

function isAnswerTo(packet: Packet, { name, family, id }: Question): boolean {
  const [question, ...more] = packet.questions ?? [];
  if (packet.id !== id || packet.type !== 'response' || more.length > 0) return false;
  return question?.type === TYPES[family] && isSameName(question.name, name);
}

/** Undefined for bytes that are no message. */
function decodePacket(message: Buffer): (Packet & { readonly rcode?: string }) | undefined {
  try {
    return decode(message);
  } catch {
    return undefined;
  }
}

/**
 * The name and those that it is an alias of, in lower case: each at most once, so that circles end.
 */
function aliasesOf(name: string, answers: readonly Answer[]): ReadonlySet<string> {
  const targets = new Map<string, string>();
  for (const answer of answers) {
    if (answer.type === 'CNAME') targets.set(asciiLower(answer.name), asciiLower(answer.data));
  }
  const names = new Set<string>();
  let next: string | undefined = asciiLower(withoutDot(name));
  while (next !== undefined && !names.has(next)) {
    names.add(next);
    next = targets.get(next);
  }
  return names;
}

function isSameName(one: string, other: string): boolean {
  return asciiLower(withoutDot(one)) === asciiLower(withoutDot(other));
}

function withoutDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
