/** What somebody meant who wrote a word that is no option. */
import { nearestName } from '../../shared/text/nearest-name.ts';
import { COMMAND_SUMMARIES } from './command-summaries.ts';
import { flagOf } from './option-spec.ts';
import { optionEntries } from './option-table.ts';

/** What people write who know another program; not near to the option in spelling. */
const HABITS = new Map([
  ['-v', '--version'],
  ['-V', '--version'],
  ['-version', '--version'],
  ['-t', '--mode validate'],
  ['--validate', '--mode validate'],
  ['--check', '--mode validate'],
  ['--test', '--mode validate'],
  ['-f', '-c'],
  ['--file', '-c'],
  ['-e', '--restart-epoch'],
  ['-d', '-l debug'],
  ['--debug', '-l debug'],
  ['--verbose', '-l debug'],
  ['--workers', '--concurrency'],
  ['--threads', '--concurrency'],
  ['--port', 'the address of a listener in the bootstrap'],
]);
const BOOTSTRAP = /\.(ya?ml|json|pb|pb_text|prototxt)$/i;

const isLong = (word: string): boolean => word.startsWith('--');

/** Undefined: nothing is near. */
export function meantWords(word: string): string | undefined {
  const name = word.replace(/=.*/s, '');
  const habit = HABITS.get(name);
  if (habit !== undefined) return habit;
  if (!name.startsWith('-')) {
    if (BOOTSTRAP.test(word)) return `-c ${word}`;
    return nearestName(
      word,
      COMMAND_SUMMARIES.map((command) => command.name),
    );
  }
  if (!name.startsWith('--')) return undefined;
  const near = nearestName(
    name,
    optionEntries.map(([key]) => flagOf(key)),
  );
  // What people write who know another program comes last, mistyped too.
  return near ?? HABITS.get(nearestName(name, [...HABITS.keys()].filter(isLong)) ?? '');
}
