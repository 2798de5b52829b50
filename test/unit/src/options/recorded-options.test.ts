/**
 * Every option once, twice, empty, with `=`, negative and too large: taken or refused as Envoy does
 * (recorded).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseOptions } from '../../../../src/options/parse-options.ts';

interface RecordedLine {
  readonly name: string;
  readonly args: readonly string[];
  readonly envoy: 'taken' | 'refused';
  /** Envoy's first line, where it refuses. */
  readonly line: string;
}

const path = join(
  import.meta.dirname,
  '../../../../../test/unit/src/options/golden/recorded-options.json',
);
const { lines } = JSON.parse(readFileSync(path, 'utf8')) as { lines: readonly RecordedLine[] };

/** Where Sluice answers otherwise on purpose. */
const INTENDED: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^(?!help |version |ignore_rest ).* =/, 'a value may stand behind an equals sign too'],
  [/ neg$/, 'a negative number is refused; Envoy takes it for one of four thousand millions'],
  [/^(?!.*-path|log-format).* empty$/, 'an empty word is no number; Envoy takes the default'],
  [/^socket-mode /, 'an invalid mode is refused when nothing is served as well'],
  [/^drain-strategy /, 'the refusal names the word that was given'],
  [/^stats-tag nokey$/, 'a tag without a name would be no label'],
];

const context = {
  program: 'envoy',
  version: 'v',
  hotRestartVersion: '11.104',
  host: { hardwareThreads: () => 2, assignedCpus: () => 2 },
};

describe('command lines that Envoy was given', () => {
  for (const { name, args, envoy, line } of lines) {
    it(`${name}: ${args.slice(6).join(' ').slice(0, 60)}`, () => {
      const parsed = parseOptions(args, context);
      const isRefused = parsed.kind === 'exit' && parsed.exitCode === 1;
      const [first = '', second = ''] = parsed.kind === 'exit' ? parsed.text.split('\n') : [];
      const ours = first.startsWith('PARSE') ? `${first} ${second.trim()}` : first;
      const isSame = (isRefused ? 'refused' : 'taken') === envoy && (!isRefused || ours === line);
      const intended = INTENDED.find(([pattern]) => pattern.test(name));
      if (intended === undefined) assert.ok(isSame, `Envoy: ${envoy} ${line}; ours: ${ours}`);
    });
  }
});
