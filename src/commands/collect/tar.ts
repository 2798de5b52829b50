/** Files as one tar archive (POSIX ustar). */

const BLOCK = 512;
const OCTAL = 8;
const NAME_MAX = 100;

export interface ArchivedFile {
  /** The name in the archive: letters, digits and `/._-`. */
  readonly name: string;
  readonly content: string | Buffer;
}

export function tarOf(files: readonly ArchivedFile[], unixSeconds: number): Buffer {
  const pieces = files.flatMap(({ name, content }) => {
    const bytes = Buffer.from(content);
    return [header(name, bytes.length, unixSeconds), bytes, padding(bytes.length)];
  });
  // Two empty blocks end an archive.
  return Buffer.concat([...pieces, Buffer.alloc(2 * BLOCK)]);
}

function header(name: string, bytes: number, unixSeconds: number): Buffer {
  if (Buffer.byteLength(name) > NAME_MAX)
    throw new Error(`the name ${name} is too long for an archive`);
  const block = Buffer.alloc(BLOCK);
  const put = (at: number, text: string): number => block.write(text, at, 'latin1');
  const octal = (value: number, digits: number): string =>
    `${value.toString(OCTAL).padStart(digits, '0')}\0`;
  put(0, name);
  put(100, octal(0o600, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(bytes, 11));
  put(136, octal(unixSeconds, 11));
  // The checksum counts as blanks while it is made.
  put(148, ' '.repeat(OCTAL));
  put(156, '0');
  put(257, 'ustar\0');
  put(263, '00');
  let sum = 0;
  for (const byte of block) sum += byte;
  put(148, `${sum.toString(OCTAL).padStart(6, '0')}\0 `);
  return block;
}

function padding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);
}
