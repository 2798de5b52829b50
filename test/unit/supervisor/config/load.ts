/** Loads configuration texts in tests, without files. */
import { runPipeline, type PipelineResult } from '../../../../supervisor/config/pipeline.ts';
import type { UnknownFields } from '../../../../supervisor/config/convert/reader-options.ts';
import { formatProblem } from '../../../../supervisor/config/config-error.ts';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import type { SourceFormat } from '../../../../supervisor/config/source/source-format.ts';

export const bootstrapType = 'envoy.config.bootstrap.v3.Bootstrap';

const catalog = new ApiCatalog();

export interface TextOptions {
  readonly format?: SourceFormat;
  readonly unknownFields?: UnknownFields;
  readonly typeName?: string;
}

/** Runs the whole pipeline on one text. */
export async function load(
  text: string | Uint8Array,
  options: TextOptions = {},
): Promise<PipelineResult> {
  const format = options.format ?? 'yaml';
  const content = typeof text === 'string' ? Buffer.from(text) : text;
  return runPipeline(
    options.typeName ?? bootstrapType,
    [{ name: `test.${format}`, format, content }],
    { unknownFields: options.unknownFields ?? 'refuse' },
    catalog,
  );
}

/** The message of a text that must be right. */
export async function accept(text: string, options?: TextOptions): Promise<unknown> {
  const result = await load(text, options);
  const errors = result.problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) {
    throw new Error(`not accepted: ${errors.map(formatProblem).join('; ')}`);
  }
  return result.message;
}

/** The errors of a text, as a user reads them. */
export async function errorsOf(
  text: string | Uint8Array,
  options?: TextOptions,
): Promise<string[]> {
  const result = await load(text, options);
  return result.problems
    .filter((problem) => problem.severity === 'error')
    .map((problem) => formatProblem(problem));
}
