/** A configuration that cannot be used, with everything that is wrong with it. */
import { type Problem, formatPlace } from './problem.ts';

export type ConfigErrorCode =
  /** The file or option could not be read at all. */
  | 'config_unreadable'
  /** It was read and is wrong. */
  | 'config_invalid';

/**
 * The message's first line is what Envoy would say of the first mistake; then every
 * mistake follows on a line of its own with file, line, column, place and suggestion.
 */
export class ConfigError extends Error {
  readonly code: ConfigErrorCode;
  readonly problems: readonly Problem[];

  constructor(code: ConfigErrorCode, problems: readonly Problem[], options?: ErrorOptions) {
    super(renderProblems(problems), options);
    this.name = 'ConfigError';
    this.code = code;
    this.problems = problems;
  }
}

/** More than these are counted, not listed. */
const maximumLines = 100;

function renderProblems(problems: readonly Problem[]): string {
  const errors = problems.filter((problem) => problem.severity === 'error');
  const [first] = errors;
  if (first === undefined) {
    return 'invalid configuration';
  }
  const lines = errors.slice(0, maximumLines).map((problem) => `  ${formatProblem(problem)}`);
  if (errors.length > maximumLines) {
    lines.push(`  and ${errors.length - maximumLines} more`);
  }
  const onlyOnce = first.reference === undefined && errors.length === 1;
  return onlyOnce ? formatProblem(first) : [first.reference ?? first.message, ...lines].join('\n');
}

/**
 * `bootstrap.yaml:12:5: static_resources.clusters[0].name: value length must be ... (did you mean
 * ...?)`
 */
export function formatProblem(problem: Problem): string {
  const { position, suggestion } = problem;
  const where =
    position === undefined ? '' : `${position.source}:${position.line}:${position.column}: `;
  const path = formatPlace(problem.place);
  const hint = suggestion === undefined ? '' : ` (${suggestion})`;
  return `${where}${path === '' ? '' : `${path}: `}${problem.message}${hint}`;
}

/** Envoy checks in stages; the first mistake is that of the earliest stage. */
export function orderProblems(problems: readonly Problem[]): Problem[] {
  return problems
    .map((problem, index) => ({ problem, index, stage: stageOf(problem.rule) }))
    .sort((left, right) => left.stage - right.stage || left.index - right.index)
    .map(({ problem }) => problem);
}

function stageOf(rule: string): number {
  if (rule.startsWith('unknown_')) {
    return 1;
  }
  if (rule === 'deprecated_refused' || rule.startsWith('duration_')) {
    return 2;
  }
  return rule.startsWith('validate.') ? 3 : 0;
}
