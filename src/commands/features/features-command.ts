/** `sluice features`: which extensions of the API are served. */
import { features } from '../../../supervisor/features/features.ts';
import { type Command, usageError } from '../command.ts';
import { featureJson, featureText } from './feature-report.ts';

const WRONG_USE = 2;

export const featuresCommand: Command = {
  name: 'features',
  help: `usage: sluice features [--json] [--served|--refused] [TEXT]

Lists the extensions of the API by category: served here, or refused with the nearest way out. TEXT keeps
those with it in their name or message.
`,
  run(argv, output) {
    const flags = new Set(argv.filter((word) => word.startsWith('-')));
    const [text = '', ...stray] = argv.filter((word) => !word.startsWith('-'));
    const unknown = [...flags].find((flag) => !FLAGS.includes(flag)) ?? stray[0];
    if (unknown !== undefined) {
      output.error(usageError(featuresCommand, `unknown word ${unknown}`));
      return Promise.resolve(WRONG_USE);
    }
    const list = features().filter(
      ({ name, types, isServed }) =>
        [name, ...types].some((item) => item.includes(text)) &&
        !(flags.has('--served') && !isServed) &&
        !(flags.has('--refused') && isServed),
    );
    output.out(flags.has('--json') ? featureJson(list) : featureText(list));
    return Promise.resolve(0);
  },
};

const FLAGS: readonly string[] = ['--json', '--served', '--refused'];
