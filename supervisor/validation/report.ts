/** What validation found, in forms that programs read: one document or one line per problem. */
import { isError } from '../config/follow-up.ts';
import { formatPlace, type Problem } from '../config/problem.ts';

export interface ValidationResult {
  /** `--config-path`; empty without it. */
  readonly configPath: string;
  readonly problems: readonly Problem[];
}

export type ReportFormat = 'json' | 'sarif' | 'github';

export function renderReport(format: ReportFormat, result: ValidationResult): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(jsonReport(result), undefined, 2)}\n`;
    case 'sarif':
      return `${JSON.stringify(sarifLog(result), undefined, 2)}\n`;
    case 'github':
      return result.problems.map((problem) => `${githubCommand(problem)}\n`).join('');
  }
}

/** Every key is always there; what is not known is null. */
export function jsonReport({ configPath, problems }: ValidationResult): object {
  return {
    valid: !problems.some(isError),
    config_path: configPath,
    problems: problems.map((problem) => ({
      severity: problem.severity,
      file: problem.position?.source ?? null,
      line: problem.position?.line ?? null,
      column: problem.position?.column ?? null,
      field: formatPlace(problem.place),
      rule: problem.rule,
      message: problem.message,
      suggestion: problem.suggestion ?? null,
    })),
  };
}

/** SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/ */
function sarifLog({ problems }: ValidationResult): object {
  const rules = [...new Set(problems.map(({ rule }) => rule))].map((id) => ({ id }));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'sluice', rules } },
        columnKind: 'utf16CodeUnits',
        results: problems.map((problem) => sarifResult(problem)),
      },
    ],
  };
}

function sarifResult(problem: Problem): object {
  const { position, place, rule, severity } = problem;
  const physicalLocation = position && {
    artifactLocation: { uri: encodeURI(position.source) },
    region: { startLine: position.line, startColumn: position.column },
  };
  const field = formatPlace(place);
  return {
    ruleId: rule,
    level: severity,
    message: { text: sentence(problem) },
    locations: [
      {
        ...(physicalLocation === undefined ? {} : { physicalLocation }),
        ...(field === '' ? {} : { logicalLocations: [{ fullyQualifiedName: field }] }),
      },
    ],
  };
}

/** A workflow command, which the log of a GitHub workflow shows beside the line of the file. */
function githubCommand(problem: Problem): string {
  const { position, severity, rule } = problem;
  const properties = [
    ...(position === undefined
      ? []
      : [
          `file=${escapeProperty(position.source)}`,
          `line=${position.line}`,
          `col=${position.column}`,
        ]),
    `title=${escapeProperty(rule)}`,
  ];
  const field = formatPlace(problem.place);
  const text = `${field === '' ? '' : `${field}: `}${sentence(problem)}`;
  return `::${severity} ${properties.join(',')}::${escapeData(text)}`;
}

function sentence({ message, suggestion }: Problem): string {
  return suggestion === undefined ? message : `${message} (${suggestion})`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
