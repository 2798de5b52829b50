/**
 * Reads path templates of `google.api.http`: `/v1/{name=shelves/*}/books/**:verb`. Source: the grammar in
 * google/api/http.proto.
 */
import type { PathVariable } from '../../../../../shared/resources/filters/http/grpc-json-transcoder.ts';

export interface PathTemplate {
  readonly segments: readonly string[];
  readonly customVerb: string;
  readonly variables: readonly PathVariable[];
}

const LITERAL = /^[^/{}=*:]+$/;
const FIELD_PATH = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const VERB = /:([^/:{}]+)$/;
const TEMPLATE_LENGTH_MAX = 4096;

interface OpenVariable {
  readonly field: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** Undefined for a template that breaks the grammar. */
export function parseTemplate(text: string): PathTemplate | undefined {
  if (!text.startsWith('/') || text.length > TEMPLATE_LENGTH_MAX) return undefined;
  const verb = VERB.exec(text);
  const parts = splitOutsideBraces(text.slice(1, verb === null ? undefined : verb.index));
  const segments: string[] = [];
  const open: OpenVariable[] = [];
  for (const part of parts ?? ['']) {
    const parsed = parsePart(part);
    if (parsed === undefined) return undefined;
    const start = segments.length;
    segments.push(...parsed.segments);
    if (parsed.field !== undefined) {
      open.push({ field: parsed.field.split('.'), start, end: segments.length });
    }
  }
  const rest = segments.indexOf('**');
  if (rest >= 0 && segments.lastIndexOf('**') !== rest) return undefined;
  const variables = open.map((variable) => placed(variable, segments, rest));
  return { segments, customVerb: verb?.[1] ?? '', variables };
}

function placed(
  { field, start, end }: OpenVariable,
  segments: readonly string[],
  rest: number,
): PathVariable {
  return {
    field,
    start,
    // Behind `**` positions are known from the end only.
    end: rest >= 0 && end > rest ? end - segments.length - 1 : end,
    isMultiple: end - start > 1 || segments[start] === '**',
  };
}

interface ParsedPart {
  readonly segments: readonly string[];
  /** The variable that they are. */
  readonly field?: string;
}

function parsePart(part: string): ParsedPart | undefined {
  if (!part.startsWith('{')) return isSegment(part) ? { segments: [part] } : undefined;
  const [field = '', ...rest] = part.slice(1, -1).split('=');
  const segments = rest.length === 0 ? ['*'] : rest.join('=').split('/');
  return FIELD_PATH.test(field) && segments.every(isSegment) ? { segments, field } : undefined;
}

function isSegment(text: string): boolean {
  return text === '*' || text === '**' || LITERAL.test(text);
}

const PART = /\{[^{}]*\}|[^/{}]+/g;
const PARTS = /^(\{[^{}]*\}|[^/{}]+)(\/(\{[^{}]*\}|[^/{}]+))*$/;

/** Undefined where a variable is not a whole segment. */
function splitOutsideBraces(path: string): readonly string[] | undefined {
  if (path === '') return [];
  return PARTS.test(path) ? (path.match(PART) ?? []) : undefined;
}
