/** `sluice basic-auth`: a line of `users` for the filter basic_auth, from a password that is read. */
import { createHash } from 'node:crypto';
import { type Command, usageError } from '../command.ts';

const WRONG_USE = 2;
/** A password, with its line end. */
const BYTES_MAX = 4_096;

export const basicAuthCommand: Command = {
  name: 'basic-auth',
  help: `usage: sluice basic-auth NAME < FILE

Prints a line of users for the filter envoy.filters.http.basic_auth: NAME:{SHA}…. The password is the first
line of the standard input, so that neither the list of processes nor the shell's history has it. The hash is
SHA-1 without salt, the only one that the filter takes: keep the line as secret as the password.

exit code: 0 printed, 1 there is no password, 2 the words of the command are wrong
`,
  async run(argv, output) {
    const [name = '', ...rest] = argv;
    if (name === '' || name.startsWith('-') || rest.length > 0) {
      const reason = rest.length > 0 ? `unknown word ${rest[0]}` : 'one name is expected';
      output.error(usageError(basicAuthCommand, reason));
      return WRONG_USE;
    }
    if (/[:\s]/.test(name)) {
      output.error(usageError(basicAuthCommand, 'a name has no colon and no blank'));
      return WRONG_USE;
    }
    if (process.stdin.isTTY) output.error(`password of ${name}: `);
    const password = await firstLine(process.stdin);
    if (typeof password !== 'string' || password === '') {
      const reason = password === '' ? 'no password' : `more than ${BYTES_MAX} bytes`;
      output.error(`sluice basic-auth: ${reason}\n`);
      return 1;
    }
    const hash = createHash('sha1').update(password).digest('base64');
    output.out(`${name}:{SHA}${hash}\n`);
    return 0;
  },
};

/** Undefined: it is too long. */
async function firstLine(input: AsyncIterable<unknown>): Promise<string | undefined> {
  let read = Buffer.alloc(0);
  for await (const chunk of input) {
    read = Buffer.concat([read, chunk as Buffer]);
    if (read.includes('\n')) break;
    if (read.length > BYTES_MAX) return undefined;
  }
  const [line = ''] = read.toString().split('\n');
  return line.length > BYTES_MAX ? undefined : line.replace(/\r$/, '');
}
