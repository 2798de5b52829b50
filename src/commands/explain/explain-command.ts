/** `sluice explain`: what becomes of a request, by a bootstrap or by a running server. */
import type { AskedRequest } from '../../../shared/explain/explanation.ts';
import { readQuestion, type Question } from '../../../shared/explain/read-question.ts';
import { renderExplanation } from '../../../shared/explain/render-explanation.ts';
import { configureLogging } from '../../../shared/logging/process-log.ts';
import { logSettings } from '../../../shared/logging/log-settings.ts';
import { errorText } from '../../../shared/text/error-text.ts';
import { commandLineContext } from '../../options/command-line-context.ts';
import { parseOptions } from '../../options/parse-options.ts';
import { queryOf } from '../../admin-client/admin-client.ts';
import { adminClientOf, type AdminPlace } from '../admin-place.ts';
import { type Command, type CommandOutput, usageError } from '../command.ts';
import { EXPLAIN_HELP, parseExplainArguments } from './explain-arguments.ts';

const WRONG_USE = 2;

export const explainCommand: Command = {
  name: 'explain',
  help: EXPLAIN_HELP,
  async run(argv, output) {
    const words = parseExplainArguments(argv);
    if (typeof words === 'string') return refuse(words, output);
    const asked = readQuestion(words.question);
    if (typeof asked === 'string') return refuse(asked, output);
    const { serverOptions, format, question, admin } = words;
    try {
      if (serverOptions === undefined) return await askServer(question, format, admin, output);
      return await explainFile(asked, serverOptions, format, output);
    } catch (error) {
      output.error(`sluice explain: ${errorText(error)}\n`);
      return 1;
    }
  },
};

function refuse(reason: string, output: CommandOutput): number {
  output.error(usageError(explainCommand, reason));
  return WRONG_USE;
}

async function explainFile(
  asked: AskedRequest,
  serverOptions: readonly string[],
  format: 'text' | 'json',
  output: CommandOutput,
): Promise<number> {
  const parsed = parseOptions(
    ['--mode', 'validate', '-l', 'off', ...serverOptions],
    commandLineContext(),
  );
  if (parsed.kind !== 'run') {
    output.error(parsed.text);
    return WRONG_USE;
  }
  configureLogging(logSettings(parsed.options));
  const { explainByBootstrap } = await import('./explain-bootstrap.ts');
  const explanation = await explainByBootstrap(asked, parsed.options);
  const json = (): string => `${JSON.stringify(explanation, undefined, 1)}\n`;
  output.out(format === 'json' ? json() : renderExplanation(explanation));
  return 0;
}

async function askServer(
  question: Question,
  format: 'text' | 'json',
  admin: AdminPlace,
  output: CommandOutput,
): Promise<number> {
  const { headers, serverName, ...texts } = question;
  const query = queryOf({ ...texts, server_name: serverName, format, header: headers });
  const answer = await adminClientOf(admin).ask({ method: 'GET', path: `/explain${query}` });
  const { status, body } = answer;
  if (status === 200) output.out(body);
  else output.error(`sluice explain: ${body}`);
  return status === 200 ? 0 : 1;
}
