/** `sluice features`: which extensions and fields of the API are served. */
import { features } from '../../../supervisor/features/features.ts';
import { fieldGroups } from '../../../supervisor/features/field-groups.ts';
import { type Command, usageError } from '../command.ts';
import { featureJson, featureText, fieldJson, fieldText } from './feature-report.ts';

const WRONG_USE = 2;

export const featuresCommand: Command = {
  name: 'features',
  help: `usage: sluice features [--json] [--served|--refused|--fields] [TEXT]

Lists the extensions of the API by category: served here, in part, with the fields that are missing, or refused,
with the nearest way out. With --fields the messages of which fields are refused or have no effect. TEXT keeps
those with it in their name, message or field.
`,
  run(argv, output) {
    const flags = new Set(argv.filter((word) => word.startsWith('-')));
    const [text = '', ...stray] = argv.filter((word) => !word.startsWith('-'));
    const unknown = [...flags].find((flag) => !FLAGS.includes(flag)) ?? stray[0];
    if (unknown !== undefined) {
      output.error(usageError(featuresCommand, `unknown word ${unknown}`));
      return Promise.resolve(WRONG_USE);
    }
    output.out(flags.has('--fields') ? fields(text, flags) : extensions(text, flags));
    return Promise.resolve(0);
  },
};

const FLAGS: readonly string[] = ['--json', '--served', '--refused', '--fields'];

function extensions(text: string, flags: ReadonlySet<string>): string {
  const list = features().filter(
    ({ name, types, isServed }) =>
      [name, ...types].some((item) => item.includes(text)) &&
      !(flags.has('--served') && !isServed) &&
      !(flags.has('--refused') && isServed),
  );
  const groups = fieldGroups();
  return flags.has('--json') ? featureJson(list, groups) : featureText(list, groups);
}

function fields(text: string, flags: ReadonlySet<string>): string {
  const list = fieldGroups().filter(({ message, refused, harmless }) =>
    [message, ...refused, ...harmless].some((item) => item.includes(text)),
  );
  return flags.has('--json') ? fieldJson(list) : fieldText(list);
}
