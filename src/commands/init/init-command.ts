/** `sluice init filter NAME`: a new filter, with a test that passes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { builtRoot } from '../../../shared/process/built-root.ts';
import { errorText } from '../../../shared/text/error-text.ts';
import { type Command, type CommandOutput, usageError } from '../command.ts';
import { filterTemplate } from './filter-template.ts';

const WRONG_USE = 2;
/** As npm takes it. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;

export const initCommand: Command = {
  name: 'init',
  help: `usage: sluice init filter NAME

Makes the folder NAME with a filter in TypeScript, its test, package.json and tsconfig.json. Then:

  cd NAME && npm install && npm test
`,
  run(argv, output) {
    const [what, name, ...stray] = argv;
    if (what !== 'filter' || name === undefined || stray.length > 0 || !NAME.test(name)) {
      const reason =
        what === 'filter' && name !== undefined && stray.length === 0
          ? `${name} is no name of a package: use lower case letters, digits and - . _`
          : 'say what to make: filter NAME';
      output.error(usageError(initCommand, reason));
      return Promise.resolve(WRONG_USE);
    }
    return Promise.resolve(makeFilter(name, output));
  },
};

function makeFilter(name: string, output: CommandOutput): number {
  const folder = resolve(name);
  try {
    mkdirSync(folder);
    for (const { name: file, text } of filterTemplate(name, ownVersion())) {
      writeFileSync(join(folder, file), text, { flag: 'wx' });
    }
  } catch (error) {
    output.error(`sluice init: ${errorText(error)}\n`);
    return 1;
  }
  output.out(`made ${folder}\n\n  cd ${name} && npm install && npm test\n`);
  return 0;
}

function ownVersion(): string {
  const text = readFileSync(join(builtRoot, '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
