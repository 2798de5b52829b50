/** Reads what a client of `/tap` asks for, and says in Envoy's words what is wrong with it. */
import type { TapRequest as TapRequestMessage } from '../../shared/api/generated/envoy/admin/v3/tap.ts';
import { ApiCatalog } from '../config/api/api-catalog.ts';
import type { MessageObject } from '../config/convert/message-object.ts';
import { printForError } from '../config/convert/text-format-printer.ts';
import { runPipeline } from '../config/pipeline.ts';
import type { Problem } from '../config/problem.ts';
import { resolveTapSettings } from '../resources/filters/http/tap/tap.ts';
import { Scope } from '../resources/scope.ts';
import { durationMs } from '../resources/values.ts';
import type { TapRequest } from './tap-sessions.ts';

const TYPE = 'envoy.admin.v3.TapRequest';
/** Envoy's own limit where the runtime sets none. */
const REGEX_PROGRAM_SIZE_MAX = 100;

/** The request, or the text of an error. `body` is JSON or YAML. */
export async function readTapRequest(body: Uint8Array): Promise<TapRequest | string> {
  const catalog = new ApiCatalog();
  const source = { name: '/tap', format: 'yaml', content: body } as const;
  const { message, problems } = await runPipeline(
    TYPE,
    [source],
    { unknownFields: 'refuse' },
    catalog,
  );
  const wrong = problems.find(({ severity }) => severity === 'error');
  if (wrong !== undefined) return describe(wrong, message, catalog);
  return resolve(message as unknown as TapRequestMessage);
}

/** A broken rule stands behind the message that breaks it. */
function describe(problem: Problem, message: MessageObject, catalog: ApiCatalog): string {
  const text = problem.reference ?? problem.message;
  if (!problem.rule.startsWith('validate.')) return text;
  return `${printForError(catalog, catalog.message(TYPE), message)}: ${text}`;
}

function resolve({ config_id: configId = '', tap_config: config = {} }: TapRequestMessage) {
  const problems: Problem[] = [];
  const scope = new Scope({
    problems: { report: (problem) => problems.push(problem) },
    maxRegexProgramSize: REGEX_PROGRAM_SIZE_MAX,
  });
  const settings = resolveTapSettings(config, scope.at('tap_config'));
  const wrong = problems.find(({ severity }) => severity === 'error');
  if (wrong !== undefined || settings === undefined) return wrong?.message ?? 'invalid tap_config';
  const buffered = config.output_config?.sinks?.[0]?.buffered_admin;
  if (buffered === undefined) return { configId, settings };
  const { max_traces: maxTraces = '0', timeout } = buffered;
  return {
    configId,
    settings,
    buffered: {
      maxTraces: Number(maxTraces),
      timeoutMs: timeout === undefined ? undefined : durationMs(timeout),
    },
  };
}
