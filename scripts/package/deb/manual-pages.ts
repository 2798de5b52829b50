/** Manual pages, made from the table of options and the commands. */
import { COMMAND_SUMMARIES } from '../../../src/options/command-summaries.ts';
import { flagOf, valueWord } from '../../../src/options/option-spec.ts';
import { optionEntries } from '../../../src/options/option-table.ts';

/** By their path below `man/`. */
export function manualPages(version: string): ReadonlyMap<string, string> {
  return new Map([
    ['man1/sluice.1', programPage(version)],
    ['man1/sluice-restarter.1', restarterPage(version)],
  ]);
}

function programPage(version: string): string {
  const options = optionEntries.flatMap(([key, spec]) => {
    const names = [...(spec.short === undefined ? [] : [`-${spec.short}`]), flagOf(key)];
    return [
      '.TP',
      `.B ${plain(`${names.join(', ')} ${valueWord(spec)}`.trim())}`,
      plain(spec.help),
    ];
  });
  const commands = COMMAND_SUMMARIES.flatMap(({ name, summary }) => [
    '.TP',
    `.B ${plain(`sluice ${name}`)}`,
    plain(summary),
  ]);
  return page('SLUICE', version, [
    '.SH NAME',
    'sluice \\- L7 proxy that starts from an Envoy bootstrap',
    '.SH SYNOPSIS',
    '.B sluice \\-c',
    '.I FILE',
    '[OPTIONS]',
    '.br',
    '.B sluice',
    '.I COMMAND',
    '[OPTIONS]',
    '.SH DESCRIPTION',
    'Serves what an Envoy v3 bootstrap says. With a command as its first word it does one thing and ends.',
    '.SH COMMANDS',
    ...commands,
    '.SH OPTIONS',
    ...options,
    '.SH FILES',
    '.TP',
    '.I /etc/sluice/bootstrap.yaml',
    'what the service serves',
    '.SH SEE ALSO',
    '.BR sluice\\-restarter (1)',
  ]);
}

function restarterPage(version: string): string {
  return page('SLUICE-RESTARTER', version, [
    '.SH NAME',
    'sluice\\-restarter \\- runs sluice and restarts it without a refused connection',
    '.SH SYNOPSIS',
    '.B sluice\\-restarter',
    '[SLUICE OPTIONS]',
    '.br',
    '.B sluice\\-restarter status',
    '[\\-\\-base\\-id N]',
    '.SH DESCRIPTION',
    'Starts sluice with the options. SIGHUP starts the next epoch, which takes over from the one before it;',
    'SIGUSR1 opens log files again; SIGTERM ends all. The service of the package runs it.',
    '.SH SEE ALSO',
    '.BR sluice (1)',
  ]);
}

function page(title: string, version: string, lines: readonly string[]): string {
  return [`.TH ${title} 1 "" "sluice ${version}" "User Commands"`, ...lines, ''].join('\n');
}

/** No word is a command of the typesetter. */
function plain(text: string): string {
  const safe = text.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return /^[.']/.test(safe) ? `\\&${safe}` : safe;
}
