/** Texts by which a peer tries to end a header, a line or a message where none ends. */
import { attackRandom, attackRuns } from '../../attack.ts';

/** Code units that are, or become when cut to eight bits, the end of a line or of a text. */
const TELLING_UNITS = [
  0x00, 0x01, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b, 0x1f, 0x20, 0x22, 0x2c, 0x3a, 0x3b,
  0x5c, 0x7e, 0x7f, 0x80, 0x85, 0x8a, 0x8d, 0xa0, 0xad, 0xff, 0x100, 0x10a, 0x10d, 0x10a0, 0x120,
  0x17f, 0x20a, 0x20d, 0x2028, 0x2029, 0x560a, 0x560d, 0xd800, 0xdbff, 0xdc0a, 0xdc0d, 0xdfff,
  0xe0a, 0xfeff, 0xff0a, 0xff0d, 0xfffe, 0xffff,
];

/** The same units in every run and others beside them; the long form tries all of them. */
export function hostileUnits(): readonly number[] {
  const count = attackRuns(200, 65_536);
  if (count === 65_536) return Array.from({ length: count }, (_, unit) => unit);
  const random = attackRandom(17);
  const others = Array.from({ length: count }, () => Math.floor(random() * 65_536));
  return [...new Set([...TELLING_UNITS, ...others])];
}

const SECOND_REQUEST = 'GET /admin HTTP/1.1\r\nhost: h\r\n\r\n';

export const HOSTILE_TEXTS: readonly string[] = [
  `x\r\n\r\n${SECOND_REQUEST}`,
  `x HTTP/1.1\r\nhost: h\r\n\r\n${SECOND_REQUEST}`,
  'x\r\ncontent-length: 0\r\n\r\n',
  'x\ntransfer-encoding: chunked\n\n',
  'x\rset-cookie: a=b',
  'x\u010d\u010aset-cookie: a=b\u010d\u010a\u010d\u010a',
  '\u560d\u560aGET /admin HTTP/1.1',
  'x\0y',
  '',
];
